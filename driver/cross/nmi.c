// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CPU latches a single NMI, so an NMI for Linux may merge with one for the monitor. Therefore
 * the monitor injects an NMI into Linux for each NMI that it took as its own command, and counts it
 * in .nmis_in_doubt. If no other handler in Linux claims such an NMI, this one does.
 */
#include <linux/string.h>
#include <asm/nmi.h>
#include "abi/limits.h"
#include "qv.h"
#include "cross.h"

/* by index of the CPU: how many of .nmis_in_doubt this handler has claimed */
static u64 nmi_ended[QV_MAX_CPUS];

static int nmi_unknown(unsigned int what, struct pt_regs *regs)
{
	int index = qv_cpu_index(raw_smp_processor_id());

	if (index < 0 || !qv_takeover.monitor_mem)
		return NMI_DONE;
	if (READ_ONCE(qv_front_status()->cpus[index].nmis_in_doubt) == nmi_ended[index])
		return NMI_DONE;
	nmi_ended[index]++;	/* claims this NMI only; another may be pending */
	return NMI_HANDLED;
}

void qv_nmi_reset(void)
{
	memset(nmi_ended, 0, sizeof(nmi_ended));
}

/*
 * The handler stays registered while the module is loaded. Unregistering waits for all CPUs, and
 * neither enable nor disable may wait for a CPU that has its interrupts off.
 */
int qv_nmi_register(void)
{
	return register_nmi_handler(NMI_UNKNOWN, nmi_unknown, 0, "qv");
}

void qv_nmi_unregister(void)
{
	unregister_nmi_handler(NMI_UNKNOWN, "qv");
}
