// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/console.h>
#include <inmate/cpu.h>
#include "../user/include/quest/types.h"
#include "fault.h"
#include "process/exit.h"
#include "process/process.h"

#define PAGE_FAULT	14
#define ERROR_WRITE	(1u << 1)
#define ERROR_FETCH	(1u << 4)

/* The signal that waitpid() reports for an exception; 0: SIGSEGV. */
static const uint8_t signals[TRAP_FIRST_IRQ] = {
	[0] = SIGFPE, [1] = SIGTRAP, [3] = SIGTRAP, [4] = SIGFPE, [5] = SIGSEGV, [6] = SIGILL,
	[7] = SIGFPE, [13] = SIGILL, [16] = SIGFPE, [19] = SIGFPE,
};

static void explain_page_fault(const struct process *p, const struct trap_frame *f,
			       uint64_t address)
{
	enum space_access access = f->error & ERROR_FETCH ? SPACE_EXECUTE :
				   f->error & ERROR_WRITE ? SPACE_WRITE : SPACE_READ;
	static const char *const did[] = { "read", "wrote", "executed" };

	print(", %s %016lx (%s)", did[access], address, space_explain(&p->space, address, access));
}

void fault_of_program(struct trap_frame *f)
{
	uint64_t address = read_cr2();
	struct process *p = process_current();
	int signal = signals[f->vector];

	if (!p->ended)
		p->ended = rdtsc();
	/* printing takes long; this thread and its process exist until the message is printed */
	irq_enable();
	print("%s (pid %d, thread %u) is killed: %s at %016lx", p->name, p->pid,
	      thread_current()->slot, trap_name(f->vector), f->rip);
	if (f->vector == PAGE_FAULT)
		explain_page_fault(p, f, address);
	else if (f->vector == 13)
		print(" (an instruction that is the kernel's, or an address that is none)");
	print("\n");
	irq_disable();
	process_end(p, signal ? signal : SIGSEGV);
	process_end_thread(0);
}
