// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/trap.h>

void trap_print(const struct trap_frame *f)
{
	print("rip %016lx  cs  %04lx              rflags %08lx\n", f->rip, f->cs, f->rflags);
	print("rsp %016lx  rbp %016lx  cr2 %016lx\n", f->rsp, f->rbp, read_cr2());
	print("rax %016lx  rbx %016lx  rcx %016lx\n", f->rax, f->rbx, f->rcx);
	print("rdx %016lx  rsi %016lx  rdi %016lx\n", f->rdx, f->rsi, f->rdi);
	print("r8  %016lx  r9  %016lx  r10 %016lx\n", f->r8, f->r9, f->r10);
	print("r11 %016lx  r12 %016lx  r13 %016lx\n", f->r11, f->r12, f->r13);
	print("r14 %016lx  r15 %016lx  cr3 %016lx\n", f->r14, f->r15, read_cr3());
}
