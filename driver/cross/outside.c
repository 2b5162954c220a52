// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs that are offline when QV is enabled. Outside the monitor such a CPU executes Linux's text,
 * which a hostile Linux may change, and no nested table restricts it. So QV brings each CPU online
 * that Linux permits, takes it under the monitor with all others, and sends it offline again: it
 * waits there as a guest. A CPU that Linux does not permit (nosmt, nr_cpus=, more than QV_MAX_CPUS)
 * is outside: the log names this, and --strict refuses to enable.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include "abi/limits.h"
#include "qv.h"
#include "cross.h"

/* Both masks are used under qv_lock only */
/* CPUs that are online only because this file brought them online */
static cpumask_t outside_brought;
/* CPUs that were offline before enable, or are kept for cells, and are under the monitor */
static cpumask_t outside_parked;

static void outside_bring(const struct cpumask *which)
{
	u32 cpu;

	for_each_cpu(cpu, which)
		if (!cpu_online(cpu) && num_online_cpus() < QV_MAX_CPUS && !add_cpu(cpu))
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
 * Sending a CPU offline stops all other CPUs for a moment. If a CPU has not come to the
 * rendezvous, that wait might not end, so then no CPU is sent offline. A CPU that is offline
 * already was sent offline by another program.
 */
void qv_outside_park(void)
{
	u32 cpu;

	for_each_cpu(cpu, &outside_brought)
		if (cpu_online(cpu) && (qv_takeover_pending() || remove_cpu(cpu)) &&
		    cpu_online(cpu))
			qv_log("driver",
			       "CPU %u was offline before and does not go offline again: "
			       "it stays online",
			       cpu);
	if (qv_takeover.enabled)
		cpumask_or(&outside_parked, &outside_parked, &outside_brought);
	else
		cpumask_clear(&outside_parked);
	cpumask_clear(&outside_brought);
}

void qv_outside_keep(u32 cpu, bool kept)
{
	if (kept && qv_takeover.enabled)
		cpumask_set_cpu(cpu, &outside_parked);
	else
		cpumask_clear_cpu(cpu, &outside_parked);
}

/* With nr_cpus= Linux knows fewer CPUs than the firmware lists */
u32 qv_outside_count(void)
{
	u32 listed = max(num_present_cpus(), qv_firmware_cpus());

	return listed > num_online_cpus() ? listed - num_online_cpus() : 0;
}
