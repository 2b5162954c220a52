// SPDX-License-Identifier: GPL-2.0-only
/* Whether the monitor runs, on which CPUs, and in which memory. */
#include <linux/mm.h>
#include "abi/layout.h"
#include "abi/status.h"
#include "qv.h"

DEFINE_MUTEX(qv_lock);
struct qv_takeover qv_takeover;
bool qv_going_down, qv_going_to_sleep;

const struct qv_mon_status *qv_front_status(void)
{
	return page_address(qv_takeover.monitor_mem) + QV_OFF_STATUS;
}

int qv_cpu_index(u32 linux_cpu)
{
	u32 i;

	for (i = 0; i < qv_takeover.num_cpus; i++)
		if (qv_takeover.cpu_of[i] == linux_cpu)
			return i;
	return -1;
}

bool qv_cpu_lost(u32 linux_cpu)
{
	int index = qv_cpu_index(linux_cpu);

	return index >= 0 && READ_ONCE(qv_front_status()->cpus[index].lost);
}
