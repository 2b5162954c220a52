// SPDX-License-Identifier: GPL-2.0-only
/*
 * The processor keeps one NMI pending: one of Linux's that meets one of the monitor's is one
 * with it. So where the monitor took an NMI for a command of its own, it gives Linux one as
 * well. If nobody else in Linux knows what that one is for, it ends here.
 */
#include <linux/mm.h>
#include <asm/nmi.h>
#include "qv.h"
#include "instance.h"

static u64 seen[QV_MON_CPUS];		/* ended, of qv_mon_cpu_status.nmis_in_doubt; by index */

static int nobodys(unsigned int what, struct pt_regs *regs)
{
	int index = qv_cpu_index(raw_smp_processor_id());
	const struct qv_mon_status *status;

	if (index < 0 || !qv_takeover.block)
		return NMI_DONE;
	status = page_address(qv_takeover.block) + QV_OFF_STATUS;
	if (READ_ONCE(status->cpus[index].nmis_in_doubt) == seen[index])
		return NMI_DONE;
	seen[index]++;		/* this one: another may wait behind it */
	return NMI_HANDLED;
}

void qv_nmi_reset(void)
{
	memset(seen, 0, sizeof(seen));
}

/*
 * As long as the module is there: taking it away waits for all CPUs, and enabling must wait for
 * none that has its interrupts off.
 */
int qv_nmi_register(void)
{
	return register_nmi_handler(NMI_UNKNOWN, nobodys, 0, "qv");
}

void qv_nmi_unregister(void)
{
	unregister_nmi_handler(NMI_UNKNOWN, "qv");
}
