// SPDX-License-Identifier: GPL-2.0-only
/* Checks whether this machine can run QV now. Each obstacle is named with its remedy. */
#include <linux/cpumask.h>
#include "abi/limits.h"
#include "qv.h"
#include "cross.h"

int qv_preflight(struct qv_reply *r)
{
	int error = qv_virt_preflight(r);

	if (error)
		return error;
	if (num_online_cpus() > QV_MAX_CPUS)
		return qv_refuse(r, QV_E_TOO_MANY, "boot with fewer CPUs (maxcpus=64)",
				 "%u CPUs are online; this version of QV handles %u",
				 num_online_cpus(), QV_MAX_CPUS);
	return 0;
}
