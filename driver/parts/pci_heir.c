// SPDX-License-Identifier: GPL-2.0-only
/*
 * A PCI function moves from a cell that has stopped to a running cell that waits for it, without a
 * driver of Linux in between. The state that Linux restores at last moves with it.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/pci.h>
#include <asm/tsc.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "qv.h"
#include "cells.h"
#include "cell/steps.h"
#include "parts/console.h"
#include "parts/pci.h"

struct qv_pci_given *qv_pci_held(u32 bdf, struct qv_cell **cell)
{
	struct qv_cell *c;
	u32 i;

	list_for_each_entry(c, &qv_cells, list)
		for (i = 0; i < c->num_devices; i++)
			if (c->devices[i].monitor.bdf == bdf && !qv_pci_waits(&c->devices[i])) {
				*cell = c;
				return &c->devices[i];
			}
	return NULL;
}

bool qv_pci_has_heir(const struct qv_cell *cell)
{
	struct qv_cell *heir, *holder;
	u32 i;

	list_for_each_entry(heir, &qv_cells, list)
		for (i = 0; heir->state == QV_STATE_RUNNING && i < heir->num_devices; i++)
			if (qv_pci_waits(&heir->devices[i]) &&
			    qv_pci_held(heir->devices[i].monitor.bdf, &holder) && holder == cell)
				return true;
	return false;
}

/*
 * The function is now @to, no longer @from. The state that Linux restores moves with it, and so
 * does Linux's object, which may be younger than that of the heir: virtual functions come and go
 */
static void heir_exchange(struct qv_pci_given *to, struct qv_pci_given *from)
{
	swap(to->pdev, from->pdev);
	to->saved = from->saved;
	to->had_driver = from->had_driver;
	memcpy(to->driver, from->driver, sizeof(to->driver));
	to->state = (to->state & ~QV_DEVICE_HEIR) | (from->state & QV_DEVICE_NO_RESET);
	to->monitor.flags &= ~QV_MON_DEVICE_HEIR;
	to->refused = from->refused = false;
	from->saved = NULL;
	from->state |= QV_DEVICE_HEIR;
	from->monitor.flags |= QV_MON_DEVICE_HEIR;
}

static u64 heir_us(u64 since)
{
	return div_u64((qv_rdtsc() - since) * 1000, tsc_khz);
}

/* Asks the monitor, which stops @cell first if it has failed. *@silent: a unit did not answer */
static int heir_ask(struct qv_reply *r, struct qv_cell *cell, struct qv_cell *heir, u32 i,
		    bool *silent)
{
	int error = qv_handover_stop(r, cell);
	u64 result;

	if (error)
		return error;
	result = qv_manage(QV_HC_MOVE, heir->id | i << 8);
	*silent = result == QV_ME_SILENT;
	return result && !*silent ? qv_refuse_monitor(r, result, "move it") : 0;
}

/* Returns false if the monitor refuses */
static bool heir_move(struct qv_cell *heir, u32 i)
{
	struct qv_pci_given *to = &heir->devices[i], *from;
	u64 begin = qv_rdtsc(), us, since;
	struct qv_reply r = { 0 };
	struct qv_cell *cell;
	bool silent;

	from = qv_pci_held(to->monitor.bdf, &cell);
	/* a cell that has not run yet has nothing to give up */
	if (!from || cell->state < QV_STATE_RUNNING ||
	    (cell->state == QV_STATE_RUNNING && cell->in_monitor_running))
		return true;
	if (heir_ask(&r, cell, heir, i, &silent)) {
		/* the next look tries again */
		if (!to->refused)
			qv_log("driver", "PCI function %s stays with cell %s, not %s: %s",
			       pci_name(to->pdev), cell->name, heir->name, r.text);
		to->refused = true;
		return false;
	}
	us = heir_us(begin);
	since = cell->failure.tsc ? heir_us(cell->failure.tsc) : us;
	heir_exchange(to, from);
	qv_console_ring(heir->console);
	qv_event(QV_EVENT_CELL, QV_STATE_RUNNING, heir->name,
		 "PCI function %s moved from cell %s in %llu us, %llu us after that cell %s",
		 pci_name(to->pdev), cell->name, us, since,
		 cell->failure.tsc ? "failed" : "was to stop");
	if (silent)
		qv_event(QV_EVENT_CELL, QV_STATE_RUNNING, heir->name,
			 "DMA of PCI function %s may be blocked: "
			 "a unit of the IOMMU does not answer",
			 pci_name(to->pdev));
	qv_pci_log_unsafe(heir, to, "inherited by");
	return true;
}

void qv_pci_inherit(void)
{
	struct qv_cell *heir;
	u32 i;

	if (qv_lock_holder())		/* the monitor would refuse */
		return;
	list_for_each_entry(heir, &qv_cells, list)
		for (i = 0; heir->state == QV_STATE_RUNNING && i < heir->num_devices; i++)
			/* The next look begins here again, so that a group goes to one heir */
			if (qv_pci_waits(&heir->devices[i]) && !heir_move(heir, i))
				return;
}
