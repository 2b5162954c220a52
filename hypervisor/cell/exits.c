// SPDX-License-Identifier: GPL-2.0-only
#include "cell.h"
#include "core/msr.h"
#include "core/x86.h"

void cell_unknown(struct pcpu *cpu)
{
	cell_fail(cpu, QV_FAIL_EXIT, 0);
}

void cell_shutdown(struct pcpu *cpu)
{
	cell_fail(cpu, QV_FAIL_TRIPLE_FAULT, vendor_rip(cpu));
}

/*
 * No kernel will look at the error, since the cell fails or the CPU is parked. So clear
 * MCG_STATUS.MCIP. If it stayed set, the next machine check would shut the machine down.
 */
void cell_machine_check(struct pcpu *cpu)
{
	msr_write_safe(MSR_MCG_STATUS, 0);
	if (cpu->phase == CPU_RUNNING)
		cell_unknown(cpu);
}

void cell_fault(struct pcpu *cpu, u64 vector, u64 rip)
{
	msr_write_safe(MSR_MCG_STATUS, 0);	/* after a machine check, as above */
	cell_fail(cpu, QV_FAIL_MONITOR, rip);
}
