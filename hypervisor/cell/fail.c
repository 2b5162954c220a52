// SPDX-License-Identifier: GPL-2.0-only
#include "abi/status.h"
#include "cell.h"
#include "core/kick.h"

void cell_fail(struct pcpu *cpu, u32 reason, u64 address)
{
	struct qv_mon_status *status = my_status();
	u32 i = 0;

	if (cell_record(cpu, reason, address)) {
		log_event(cpu, QV_LOG_FAILED, reason, address);
		log_event(cpu, QV_LOG_FAILED_AT, status->failure.rip, status->failure.exit_code);
		__atomic_store_n(&status->state, QV_MON_FAILED, __ATOMIC_RELEASE);
		do
			if (pcpu_of(i) != cpu)
				kick(pcpu_of(i), CMD_STOP);
		while (++i < me()->boot.num_cpus);
		/* after all CPUs are to stop, since bells wait for their turns */
		if (me()->req.num_channels)
			cell_channels_failed(cpu);
	}
	vendor_set_park(cpu, CPU_STOPPED);
}
