// SPDX-License-Identifier: GPL-2.0-only
#include "abi/status.h"
#include "cell.h"
#include "core/kick.h"

/*
 * Counts a failure of a cell on standby, once for all CPUs that fail. Returns true if fewer than
 * .standby others were in the last .standby_ms. After a fault of the monitor, the instance may be
 * damaged, so the cell ends, also if another CPU has failed before
 */
static __attribute__((noinline)) bool standby_turn(bool first, u32 reason)
{
	u32 most = me()->req.standby, num = my_status()->failures;
	u64 *turn = &me()->cell.failed[num % most], last = *turn;

	if (reason == QV_FAIL_MONITOR) {
		__atomic_store_n(&my_status()->state, QV_MON_FAILED, __ATOMIC_RELEASE);
		return false;
	}
	if (!first)
		return true;
	*turn = rdtsc();
	__atomic_store_n(&my_status()->failures, num + 1, __ATOMIC_RELEASE);
	return num < most || *turn - last >= (u64)me()->req.standby_ms * me()->boot.tsc_khz;
}

/* If the cell is to begin again, the state is QV_MON_STOPPED until its boot CPU does so */
void cell_fail(struct pcpu *cpu, u32 reason, u64 address)
{
	struct qv_mon_status *status = my_status();
	bool first = cell_record(cpu, reason, address);
	bool again = me()->req.standby && standby_turn(first, reason);
	u32 i;

	if (first) {
		log_event(cpu, QV_LOG_FAILED, reason, address);
		log_event(cpu, QV_LOG_FAILED_AT, status->failure.rip, status->failure.exit_code);
		__atomic_store_n(&status->state, again ? QV_MON_STOPPED : QV_MON_FAILED,
				 __ATOMIC_RELEASE);
		/* the boot CPU comes last: cell_again() waits for the others */
		for (i = me()->boot.num_cpus; i-- > 0;)
			kick(pcpu_of(i), again ? CMD_BECOME : CMD_STOP);
		/* after all CPUs are to stop, since bells wait for their turns */
		if (!again && me()->req.num_channels)
			cell_channels_failed(cpu);
	}
	vendor_set_park(cpu, again ? CPU_WAIT_SIPI : CPU_STOPPED);
}
