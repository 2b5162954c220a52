// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs that are offline when QV is enabled. Bare, such a CPU would go on to run Linux's text, which a hostile
 * Linux may change, and no table would hold it back. So each that Linux lets come is brought online, taken under the
 * monitor with all others, and sent offline again: it waits there as a guest. One that Linux does not let come
 * (nosmt, nr_cpus=, more than QV has room for) is outside: the level is named, and --strict refuses.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include "qv.h"
#include "cross.h"

/* Under qv_lock */
static cpumask_t outside_brought;		/* online now for our sake alone */
static cpumask_t outside_parked;		/* offline before enable, and under the monitor */

static void outside_bring(const struct cpumask *which)
{
	u32 cpu;

	for_each_cpu(cpu, which)
		if (!cpu_online(cpu) && num_online_cpus() < QV_MON_CPUS && !add_cpu(cpu))
			cpumask_set_cpu(cpu, &outside_brought);
}

void qv_outside_gather(void)
{
	outside_bring(cpu_present_mask);
}

void qv_outside_return(void)
{
	outside_bring(&outside_parked);
}

/*
 * Setting a CPU offline stops all others for a moment. While one of them has still to answer a call, that could
 * wait for ever: then those brought stay online. A CPU that is offline already was set so by somebody else.
 */
void qv_outside_park(void)
{
	u32 cpu;

	for_each_cpu(cpu, &outside_brought)
		if (cpu_online(cpu) && (qv_rendezvous_pending() || remove_cpu(cpu)) && cpu_online(cpu))
			qv_log("driver", "CPU %u was offline before and does not go offline again: it stays online", cpu);
	if (qv_takeover.enabled)
		cpumask_or(&outside_parked, &outside_parked, &outside_brought);
	else
		cpumask_clear(&outside_parked);
	cpumask_clear(&outside_brought);
}

/* What the firmware lists, Linux may not know: nr_cpus= */
u32 qv_outside_count(void)
{
	u32 listed = max(num_present_cpus(), qv_firmware_cpus());

	return listed > num_online_cpus() ? listed - num_online_cpus() : 0;
}
