// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hand-over of a cell to the monitor, and back: create, start, stop and reclaim by hypercalls.
 */
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>
#include "abi/calls.h"
#include "abi/create.h"
#include "abi/errors.h"
#include "qv.h"
#include "cells.h"
#include "cell/steps.h"
#include "parts/cpus.h"

/* Asks the monitor for @m, with the APICs in that mode, and records the mode in @cell */
static u64 handover_try(struct qv_cell *cell, struct qv_mon_create *m, bool x2apic)
{
	cell->x2apic = x2apic;
	m->x2apic = x2apic;
	return qv_manage(QV_HC_CREATE, virt_to_phys(m));
}

/* Unless the request demands x2APIC mode, a cell that cannot have it is as the machine */
static u64 handover_ask(struct qv_cell *cell, struct qv_mon_create *m)
{
	bool machine = cell->config->apic == QV_APIC_MACHINE || !qv_takeover.offers_x2apic;
	u64 result = handover_try(cell, m, qv_takeover.x2apic || !machine);

	if (result != QV_ME_X2APIC || cell->config->apic != QV_APIC_BEST)
		return result;
	qv_log(cell->name,
	       "its APICs stay in xAPIC mode, "
	       "since an x2APIC would take interrupts for a logical id of Linux");
	return handover_try(cell, m, false);
}

int qv_handover_create(struct qv_reply *r, struct qv_cell *cell)
{
	struct qv_mon_create *m = alloc_pages_exact(sizeof(*m), GFP_KERNEL | __GFP_ZERO);
	u64 result;

	if (!m)
		return qv_refuse(r, QV_E_NO_MEMORY, "free memory",
				 "no memory for the request to the monitor");
	BUILD_BUG_ON(sizeof(m->name) != sizeof(cell->name));
	memcpy(m->name, cell->name, sizeof(m->name));
	qv_parts_describe(cell, m);
	result = handover_ask(cell, m);
	free_pages_exact(m, sizeof(*m));
	if (!result || result > QV_ME_BASE)
		return qv_refuse_monitor(r, result, "create the cell");
	cell->id = result;
	qv_log_holder(cell->id, cell->name);
	memset(cell->log_seen, 0, sizeof(cell->log_seen));
	cell->state = QV_STATE_LOADABLE;
	return 0;
}

int qv_handover_start(struct qv_reply *r, struct qv_cell *cell)
{
	u64 result = qv_manage(QV_HC_START, cell->id);

	/*
	 * With QV_ME_CPU_STUCK a CPU may still arrive and run, so that the cell must be stopped
	 * later
	 */
	cell->in_monitor_running = !result || result == QV_ME_CPU_STUCK;
	if (result)
		return qv_refuse_monitor(r, result, "start the cell");
	cell->state = QV_STATE_RUNNING;
	qv_parts_begin(cell);
	return 0;
}

int qv_handover_stop(struct qv_reply *r, struct qv_cell *cell)
{
	u64 result;
	u32 i;

	if (!cell->in_monitor_running)
		return 0;
	result = qv_manage(QV_HC_STOP, cell->id);
	/*
	 * QV_ME_STATE: the start failed because a CPU of Linux did not answer, so nothing has
	 * begun. QV_ME_CPU_LOST: the cell's other CPUs have stopped; destroy asks the lost one
	 * again.
	 */
	if (result && result != QV_ME_STATE && result != QV_ME_CPU_LOST)
		return qv_refuse_monitor(r, result, "stop the cell");
	qv_parts_end(cell);
	cell->in_monitor_running = false;
	for (i = 0; result && i < cell->num_cpus; i++)
		if (qv_cpu_lost(cell->cpus[i]))
			qv_failure_lost(cell, cell->cpus[i]);
	return 0;
}

/* A CPU is lost. The monitor has given up the cell's other CPUs, which go back to Linux */
static int reclaim_rest(struct qv_reply *r, struct qv_cell *cell)
{
	qv_cpus_give(cell);
	if (cell->cpus_taken)
		qv_failure_lost(cell, cell->cpus[0]);
	return qv_failure_refuse_lost(r, cell);
}

int qv_handover_reclaim(struct qv_reply *r, struct qv_cell *cell)
{
	u64 result;

	if (!cell->id)
		return 0;
	do {
		result = qv_manage(QV_HC_RECLAIM, cell->id);
		cond_resched();
	} while (result == 1);
	if (result == QV_ME_CPU_LOST)
		return reclaim_rest(r, cell);
	if (result)
		return qv_refuse_monitor(r, result, "give the cell's memory back");
	cell->id = 0;
	return 0;
}
