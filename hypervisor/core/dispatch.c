// SPDX-License-Identifier: GPL-2.0-only
/* Exits, and faults in the monitor's own code: handlers of a cell, or of Linux (instance 0). */
#include "cpu.h"
#include "dispatch.h"
#include "cell/cell.h"
#include "front/front.h"
#include "log.h"
#include "vendor.h"

void exit_dispatch(struct pcpu *cpu, u64 code)
{
	const struct exit_row *row = vendor_exits;

	while (code < row->first || code > row->last)
		row++;
	cpu->exit_tsc = rdtsc();
	if (row->reason != SELF_COUNTED)
		count_exit(cpu, row->reason);
	(me()->id ? row->cell : row->front)(cpu);
	exit_account(cpu, &cpu->status->held_max);
}

/* Handlers of the monitor's own faults: for a cell, and for Linux */
static void (*const fault_handlers[])(struct pcpu *cpu, u64 vector, u64 rip) = {
	cell_fault, front_fault
};

/* A fault of the monitor ends the guest of this instance only */
void __attribute__((noreturn)) monitor_fault(u64 vector, u64 rip, u64 stack)
{
	struct pcpu *cpu = (struct pcpu *)(stack & ~(u64)(QV_CPU_LEN - 1));

	/* The CPU uses no targets of bells now. The manager may wait for that: bells_settle() */
	__atomic_store_n(&me()->bells.uses[cpu->index], 0, __ATOMIC_RELEASE);
	if (cpu->faulting) {		/* a second fault while the first is handled: give up */
		vendor_set_park(cpu, CPU_STOPPED);
		vendor_run(cpu);
	}
	cpu->faulting = true;
	log_event(cpu, QV_LOG_MONITOR_FAULT, vector, rip);
	fault_handlers[!me()->id](cpu, vector, rip);
	cpu->faulting = false;
	vendor_run(cpu);
}
