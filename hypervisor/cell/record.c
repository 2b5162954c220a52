// SPDX-License-Identifier: GPL-2.0-only
/* The state of a cell's CPU, for Linux to read: at the cell's end, or as a sample */
#include "abi/status.h"
#include "cell.h"
#include "core/gmem.h"

_Static_assert((u32)CPU_RUNNING == QV_CPU_RUNS && (u32)CPU_WAIT_SIPI == QV_CPU_WAITS &&
	       (u32)CPU_STOPPED == QV_CPU_STOPPED, "a phase is what Linux reads");

/* Records this CPU's state, and code bytes from @back bytes before rip on */
static void record_fill(struct pcpu *cpu, struct qv_mon_failure *f, u32 reason, u64 address,
			u32 back)
{
	f->reason = reason;
	f->cpu = cpu->linux_cpu;
	f->address = address;
	f->tsc = rdtsc();
	memcpy(f->regs, cpu->regs, sizeof(f->regs));
	vendor_record(cpu, f);
	memset(f->bytes, 0, sizeof(f->bytes));
	guest_code(cpu, back, f->bytes, sizeof(f->bytes));
}

void cell_sample(struct pcpu *cpu)
{
	struct qv_mon_status *status = my_status();

	record_fill(cpu, &status->sample, QV_FAIL_NONE, cpu->phase, 1);
	/* one instruction is shorter than load, add and store */
	__atomic_fetch_add(&status->samples, 1, __ATOMIC_RELEASE);
}

bool cell_record(struct pcpu *cpu, u32 reason, u64 address)
{
	struct qv_mon_status *status = my_status();

	if (!atomic_replace(&status->state, QV_MON_RUNNING, QV_MON_STOPPED))
		return false;
	record_fill(cpu, &status->failure, reason, address, 0);
	return true;
}
