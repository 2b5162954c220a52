// SPDX-License-Identifier: GPL-2.0-only
/*
 * The processor keeps one NMI pending: one of Linux's that meets one of the monitor's is one
 * with it. So where the monitor took an NMI for a command of its own, it gives Linux one as
 * well. If nobody else in Linux knows what that one is for, it ends here.
 */
#include <linux/string.h>
#include <asm/nmi.h>
#include "qv.h"
#include "cross.h"

static u64 nmi_ended[QV_MON_CPUS];	/* how many of qv_mon_cpu_status.nmis_in_doubt were handled; by index */

static int nmi_unknown(unsigned int what, struct pt_regs *regs)
{
	int index = qv_cpu_index(raw_smp_processor_id());

	if (index < 0 || !qv_takeover.monitor_mem)
		return NMI_DONE;
	if (READ_ONCE(qv_front_status()->cpus[index].nmis_in_doubt) == nmi_ended[index])
		return NMI_DONE;
	nmi_ended[index]++;	/* this one: another may be pending */
	return NMI_HANDLED;
}

void qv_nmi_reset(void)
{
	memset(nmi_ended, 0, sizeof(nmi_ended));
}

/*
 * As long as the module is there: taking it away waits for all CPUs, and enabling must wait for
 * none that has its interrupts off.
 */
int qv_nmi_register(void)
{
	return register_nmi_handler(NMI_UNKNOWN, nmi_unknown, 0, "qv");
}

void qv_nmi_unregister(void)
{
	unregister_nmi_handler(NMI_UNKNOWN, "qv");
}
