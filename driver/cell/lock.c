// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which cell has locked management. The monitor enforces the lock; this file only checks it early,
 * so that a call is refused with a reason.
 */
#include "abi/status.h"
#include "qv.h"
#include "cells.h"
#include "cell/steps.h"

/*
 * Only the cell's instance writes .locked. It counts only while the instance is running, or begins
 * again (standby)
 */
bool qv_cell_locked(struct qv_cell *cell)
{
	const struct qv_mon_status *status;
	u32 state;

	if (!cell->in_monitor_running)
		return false;
	status = qv_cell_status(cell);
	state = READ_ONCE(status->state);
	return READ_ONCE(status->locked) && (state == QV_MON_RUNNING || state == QV_MON_STOPPED);
}

struct qv_cell *qv_lock_holder(void)
{
	struct qv_cell *cell;

	list_for_each_entry(cell, &qv_cells, list)
		if (qv_cell_locked(cell))
			return cell;
	return NULL;
}

int qv_lock_check(struct qv_reply *r)
{
	struct qv_cell *cell = qv_lock_holder();

	if (!cell)
		return 0;
	return qv_refuse(r, QV_E_LOCKED, "ask it to agree: qvctl cell unlock NAME",
			 "cell '%s' has locked management: nothing is created, started, stopped, "
			 "destroyed or disabled until it agrees",
			 cell->name);
}
