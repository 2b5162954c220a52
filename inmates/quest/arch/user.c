// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include "../kernel/process/process.h"
#include "../kernel/thread.h"
#include "../mm/paging.h"
#include "../mm/space.h"
#include "user.h"

#define CR4_OSFXSR	(1ull << 9)
#define CR4_OSXMMEXCPT	(1ull << 10)
#define CR4_UMIP	(1ull << 11)
#define CR4_SMEP	(1ull << 20)
#define CR4_SMAP	(1ull << 21)

#define EBX7_SMEP	(1u << 7)
#define EBX7_SMAP	(1u << 20)
#define ECX7_UMIP	(1u << 2)

/* SYSCALL clears these in RFLAGS: AC NT DF IF TF */
#define SYSCALL_MASK	0x44700ull
/* SYSCALL takes CS from bits 47:32; SYSRET takes SS and CS from 63:48 plus 8 and 16 */
#define STAR		((uint64_t)(TRAP_USER_SS - 8) << 48 | (uint64_t)TRAP_KERNEL_CS << 32)

/* x87 control word: all exceptions masked, 64-bit mantissa */
#define FCW_START	0x037F
#define MXCSR_START	0x1F80

/* For syscall_entry.S. There is one CPU; with more CPUs, each one would need its own copy. */
uint64_t syscall_kernel_stack, syscall_user_stack;

static const struct thread *fpu_owner;		/* the thread whose FPU state the registers hold */

void user_init(void (*entry)(void), uint32_t ebx7, uint32_t ecx7)
{
	uint64_t cr4 = read_cr4() | CR4_OSFXSR | CR4_OSXMMEXCPT;

	if (ebx7 & EBX7_SMEP)
		cr4 |= CR4_SMEP;
	if (ebx7 & EBX7_SMAP)
		cr4 |= CR4_SMAP;
	if (ecx7 & ECX7_UMIP)
		cr4 |= CR4_UMIP;
	write_cr4(cr4);
	wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_SCE);
	wrmsr(MSR_STAR, STAR);
	wrmsr(MSR_LSTAR, (uintptr_t)entry);
	wrmsr(MSR_SFMASK, SYSCALL_MASK);
	wrmsr(MSR_SYSENTER_CS, 0);		/* SYSENTER raises #GP */
	/* INIT leaves an LDT of 64 KiB at address 0 */
	__asm__ volatile("lldt %w0" : : "r"(0));
}

static void save(struct fpu_state *f)
{
	__asm__ volatile("fxsave64 %0" : "=m"(*f));
}

static void take_fpu(const struct thread *t)
{
	static const uint32_t zero;

	if (fpu_owner == t)
		return;
	if (fpu_owner)
		save(fpu_owner->fpu);
	/*
	 * Not all processors load the address of the last x87 instruction. Clear the address of the
	 * previous program.
	 */
	__asm__ volatile("fnclex; emms; fildl %0" : : "m"(zero));
	__asm__ volatile("fxrstor64 %0" : : "m"(*t->fpu));
	/*
	 * 64-bit code does not need these segment registers. Clear them, so that the next program
	 * cannot read values of this one.
	 */
	__asm__ volatile("movl %0, %%ds; movl %0, %%es; movl %0, %%fs; movl %0, %%gs"
			 : : "r"(zero));
	fpu_owner = t;
}

void user_fpu_init(struct fpu_state *f)
{
	const uint16_t fcw = FCW_START;
	const uint32_t mxcsr = MXCSR_START;

	memset(f, 0, sizeof(*f));
	memcpy(f->fxsave, &fcw, sizeof(fcw));
	memcpy(f->fxsave + 24, &mxcsr, sizeof(mxcsr));
}

/* Processors that store 0 have this mask: AMD64 manual volume 2, section 11.5.10. */
uint32_t user_mxcsr_mask(void)
{
	struct fpu_state now;
	uint32_t mask;

	save(&now);
	memcpy(&mask, now.fxsave + 28, sizeof(mask));
	return mask ? mask : 0xFFBF;
}

void user_fpu_copy(struct fpu_state *to, const struct thread *from)
{
	if (fpu_owner == from)
		save(from->fpu);
	*to = *from->fpu;
}

void user_fpu_reset(struct thread *t)
{
	user_fpu_init(t->fpu);
	fpu_owner = NULL;
	take_fpu(t);
}

void user_forget(const struct thread *t)
{
	if (fpu_owner == t)
		fpu_owner = NULL;
}

void user_switch(const struct thread *next)
{
	if (!next->process) {
		paging_switch(paging_kernel_root());
		return;
	}
	take_fpu(next);
	syscall_kernel_stack = next->kernel_top;
	trap_set_kernel_stack(next->kernel_top);
	space_activate(&next->process->space);
}

void user_leave_space(void)
{
	paging_switch(paging_kernel_root());
}

void user_flush(void)
{
	write_cr3(read_cr3());
}
