// SPDX-License-Identifier: GPL-2.0-only
#include "front.h"
#include "core/lock.h"
#include "core/msr.h"
#include "core/x86.h"

/* A parked CPU would fail silently. A board's watchdog or its reset logic reacts to a shutdown */
void front_shutdown(struct pcpu *cpu)
{
	log_event(cpu, QV_LOG_SHUTDOWN, vendor_rip(cpu), 0);
	vendor_shutdown();
}

/* The processor would reject the state again, so the CPU stops */
void front_invalid(struct pcpu *cpu)
{
	log_event(cpu, QV_LOG_INSTRUCTION, vendor_exit_code(cpu), vendor_rip(cpu));
	vendor_set_park(cpu, CPU_STOPPED);
}

/*
 * Clears MCIP for a parked CPU, as offline CPUs of Linux do. Those of running CPUs go to Linux
 * directly, except one while the processor was entering Linux: SDM vol. 3, 27.9.
 */
void front_machine_check(struct pcpu *cpu)
{
	if (cpu->phase == CPU_RUNNING)
		vendor_inject_fault(cpu, 18);
	else
		msr_write_safe(MSR_MCG_STATUS, 0);
}

void front_fault(struct pcpu *cpu, u64 vector, u64 rip)
{
	locks_drop(cpu);
	/* Linux handles machine checks, even those that come while the monitor runs */
	if (cpu->phase == CPU_RUNNING) {
		vendor_inject_fault(cpu, vector == 18 ? 18 : 13);
		return;
	}
	if (vector == 18)
		msr_write_safe(MSR_MCG_STATUS, 0);
	vendor_set_park(cpu, cpu->phase);
}
