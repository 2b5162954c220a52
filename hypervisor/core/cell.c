// SPDX-License-Identifier: GPL-2.0-only
/* A cell that broke a rule: note what happened, stop its CPUs, nothing else. */
#include "cpu.h"
#include "vendor.h"

/* @back: bytes of code from so far before rip on */
static void note_place(struct pcpu *cpu, struct qv_mon_failure *f, u32 reason, u64 address, u32 back)
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

	note_place(cpu, &status->sample, QV_FAIL_NONE, cpu->phase, 1);
	__atomic_fetch_add(&status->samples, 1, __ATOMIC_RELEASE);	/* shorter than a store */
}

bool cell_record(struct pcpu *cpu, u32 reason, u64 address)
{
	struct qv_mon_status *status = my_status();
	u32 running = QV_MON_RUNNING;

	if (!__atomic_compare_exchange_n(&status->state, &running, QV_MON_STOPPED, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return false;
	note_place(cpu, &status->failure, reason, address, 0);
	return true;
}

void cell_fail(struct pcpu *cpu, u32 reason, u64 address)
{
	struct qv_mon_status *status = my_status();
	u32 i;

	if (cell_record(cpu, reason, address)) {
		log_event(cpu, QV_LOG_FAILED, reason, address);
		log_event(cpu, QV_LOG_FAILED_AT, status->failure.rip, status->failure.exit_code);
		__atomic_store_n(&status->state, QV_MON_FAILED, __ATOMIC_RELEASE);
		for (i = 0; i < me()->boot.num_cpus; i++)
			if (i != cpu->index)
				kick(pcpu_of(i), CMD_STOP);
	}
	park(cpu, CPU_STOPPED);
}

void refuse(struct pcpu *cpu, u32 reason, u64 address)
{
	if (is_front_end())
		vendor_inject_fault(cpu, 13);
	else
		cell_fail(cpu, reason, address);
}
