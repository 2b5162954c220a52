// SPDX-License-Identifier: GPL-2.0-only
/*
 * Enable and disable. Whatever can fail for want of memory or CPUs comes first (law 9). Then the
 * take-over brings either all CPUs under the monitor, or none.
 */
#include <linux/cpu.h>
#include <linux/module.h>
#include "qv.h"
#include "cells.h"
#include "cross.h"
#include "parts/cpus.h"
#include "parts/kept.h"
#include "watch.h"

/* Refused with direct IPIs, too: an INIT and a SIPI would start such a CPU, against all memory */
static int refuse_outside(struct qv_reply *r)
{
	return qv_refuse(r, QV_E_CPU_OFFLINE,
			 "take nosmt, maxcpus= and nr_cpus= from the kernel's command line, "
			 "or enable without --strict and --ipi direct",
			 "%u CPUs are offline and Linux does not let them come: "
			 "they would be outside the monitor",
			 qv_takeover.outside);
}

static int refuse_iommu(struct qv_reply *r)
{
	return qv_refuse(r, QV_E_UNSUPPORTED, "see security-model.md, or leave out --iommu",
			 "the IOMMU stays with Linux: %s", qv_iommu_obstacle);
}

/* Call when all CPUs that Linux permits are online */
static int enable_online(struct qv_reply *r, u32 flags)
{
	bool lost = false;
	int error;

	cpus_read_lock();
	qv_takeover.outside = qv_outside_count();
	error = qv_preflight(r);
	if (!error && flags & (QV_ENABLE_STRICT | QV_ENABLE_IPI_DIRECT) && qv_takeover.outside)
		error = refuse_outside(r);
	if (!error)
		error = qv_monitor_mem_make(r);
	if (!error && flags & QV_ENABLE_IOMMU && qv_iommu_obstacle)
		error = refuse_iommu(r);
	if (!error)
		error = qv_take_over(r, &lost);
	qv_takeover.ipi_direct = !error && qv_takeover.ipi_asked;
	qv_takeover.enabled = !error;
	if (!error)
		qv_iommu_take();
	if (lost)
		/* a CPU may still be in the monitor: never unload or free */
		__module_get(THIS_MODULE);
	else if (error && qv_takeover.monitor_mem)
		qv_monitor_mem_free();
	cpus_read_unlock();
	return error;
}

/* Returns why it cannot be enabled as @flags say: it is enabled already */
static int refuse_enabled(struct qv_reply *r, u32 flags)
{
	if (qv_takeover.ipi_direct != !!(flags & QV_ENABLE_IPI_DIRECT))
		return qv_refuse(r, QV_E_ENABLED,
				 "qvctl disable, then enable it with the other --ipi",
				 "QV is enabled already, with %s IPIs of Linux",
				 qv_takeover.ipi_direct ? "direct" : "filtered");
	if (flags & (qv_takeover.iommu ? QV_ENABLE_NO_IOMMU : QV_ENABLE_IOMMU))
		return qv_refuse(r, QV_E_ENABLED, "qvctl disable, then enable it as you want it",
				 "QV is enabled already, and the IOMMU belongs to %s",
				 qv_takeover.iommu ? "the monitor" : "Linux");
	return qv_refuse(r, QV_E_ENABLED, "nothing to do", "QV is enabled already");
}

int qv_enable(struct qv_reply *r, u32 flags)
{
	int error;

	if (qv_takeover.enabled)
		return refuse_enabled(r, flags);
	/*
	 * The notifiers that end QV, or refuse sleep while it is enabled, have been called, perhaps
	 * before this module was loaded
	 */
	if (qv_going_down || qv_going_to_sleep || system_state != SYSTEM_RUNNING)
		return qv_refuse(r, QV_E_BUSY, "enable QV afterwards", "Linux goes %s",
				 qv_going_to_sleep ? "to sleep" : "down");
	if (qv_takeover_pending())
		return qv_refuse(r, QV_E_RENDEZVOUS, "wait until that CPU takes interrupts again",
				 "a CPU that missed the last take-over has still not come");
	if (flags & QV_ENABLE_IPI_DIRECT && qv_kept_any())
		return qv_refuse(r, QV_E_ENABLED, "qvctl pool --cpus none, or --ipi filtered",
				 "IPIs of Linux cannot be direct while CPUs are kept for cells");
	error = qv_preflight(r);
	if (error)
		return error;
	qv_takeover.ipi_asked = flags & QV_ENABLE_IPI_DIRECT;
	qv_takeover.iommu_asked = !(flags & QV_ENABLE_NO_IOMMU);
	qv_outside_gather();
	error = enable_online(r, flags);
	qv_outside_park();
	if (error)
		return error;
	if (qv_takeover.outside)
		qv_log("driver",
		       "level: CPUs outside (%u): offline, and Linux does not let them come; "
		       "a hostile Linux could run them bare",
		       qv_takeover.outside);
	if (qv_takeover.ipi_direct)
		qv_log("driver",
		       "level: IPIs of Linux are direct: "
		       "a hostile Linux could interrupt and halt cells");
	__module_get(THIS_MODULE);	/* the module cannot be unloaded while the monitor runs */
	qv_watch_start();
	qv_event(QV_EVENT_ENABLED, 0, "", "the monitor runs on %u CPU%s",
		 qv_takeover.num_cpus, qv_takeover.num_cpus == 1 ? "" : "s");
	/* Only the monitor learns whether the units answer it */
	if (flags & QV_ENABLE_IOMMU && !qv_takeover.iommu)
		return qv_disable(r) ?: refuse_iommu(r);
	return 0;
}

static int check_online(struct qv_reply *r)
{
	u32 i;

	for (i = 0; i < qv_takeover.num_cpus; i++)
		if (!cpu_online(qv_takeover.cpu_of[i]))
			return qv_refuse_offline(r, qv_takeover.cpu_of[i],
						 " and could not be brought back from the monitor");
	return 0;
}

int qv_disable(struct qv_reply *r)
{
	int error;

	if (!qv_takeover.enabled)
		return qv_refuse(r, QV_E_NOT_ENABLED, "nothing to do", "QV is not enabled");
	if (qv_num_cells)
		return qv_refuse(r, QV_E_CELLS_EXIST,
				 "destroy them first: qvctl cell list, qvctl cell destroy NAME",
				 "%u cell%s in the monitor that would go",
				 qv_num_cells, qv_num_cells == 1 ? " lives" : "s live");
	if (qv_takeover_pending())
		return qv_refuse(r, QV_E_BUSY, "wait until that CPU takes interrupts again",
				 "a CPU has still to answer an earlier call");
	qv_outside_return();
	cpus_read_lock();
	error = check_online(r);
	if (!error)
		error = qv_iommu_give(r);
	if (!error)
		error = qv_give_back(r);
	cpus_read_unlock();
	if (!error) {
		qv_watch_now();			/* the last entries of the monitor's log */
		qv_takeover.enabled = qv_takeover.ipi_direct = false;
		qv_monitor_mem_free();
	}
	qv_outside_park();
	if (error)
		return error;
	qv_watch_stop();
	module_put(THIS_MODULE);
	qv_event(QV_EVENT_DISABLED, 0, "", "Linux has the machine to itself again");
	return 0;
}
