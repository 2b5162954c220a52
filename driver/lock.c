// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lock as Linux sees it. It is the monitor that keeps it: what stands here only finds
 * out early, says why, and asks the cell to agree.
 */
#include <linux/sched/signal.h>
#include "qv.h"

/* Its instance alone writes .locked; it counts while the instance says that it runs */
bool qv_cell_locked(struct qv_cell *cell)
{
	const struct qv_mon_status *status;

	if (!cell->in_monitor_running)
		return false;
	status = qv_cell_status(cell);
	return READ_ONCE(status->locked) && READ_ONCE(status->state) == QV_MON_RUNNING;
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
			 "cell '%s' has locked management: nothing is created, started, stopped, destroyed or disabled until it agrees",
			 cell->name);
}

int qv_cell_lock(struct qv_reply *r, struct qv_cell *cell)
{
	u64 result;

	if (cell->state != QV_STATE_RUNNING)
		return qv_refuse(r, QV_E_STATE, "start it first", "cell '%s' does not run: it could not unlock again",
				 cell->name);
	if (qv_cell_locked(cell))
		return qv_refuse(r, QV_E_STATE, "nothing to do", "cell '%s' has locked management already", cell->name);
	if (cell->config->lock == QV_LOCK_NEVER)
		return qv_refuse(r, QV_E_ARGUMENT, "create it with `lock: may` in its description",
				 "cell '%s' was created without the right to lock management", cell->name);
	result = qv_manage(QV_HC_LOCK, cell->id);
	if (result)
		return qv_refuse_monitor(r, result, "lock management");
	qv_watch_now();
	return 0;
}

static bool unlocked(struct qv_cell *cell)
{
	return !qv_cell_locked(cell);
}

int qv_cell_unlock(struct qv_reply *r, struct qv_cell *cell, u32 timeout_ms)
{
	char name[QV_NAME_LEN];
	bool agreed;

	if (!qv_cell_locked(cell))
		return qv_refuse(r, QV_E_STATE, "nothing to do", "cell '%s' has not locked management", cell->name);
	strscpy(name, cell->name, sizeof(name));
	qv_console_request(cell->console, QV_REQUEST_UNLOCK);
	agreed = qv_cell_await(name, timeout_ms, unlocked);
	cell = qv_cell_find(name);
	if (!cell)
		return qv_no_cell(r, name);
	qv_console_request(cell->console, QV_REQUEST_NONE);	/* it shall not agree when nobody waits */
	qv_watch_now();
	if (agreed || !qv_cell_locked(cell))
		return 0;
	if (signal_pending(current))
		return qv_refuse(r, QV_E_INTERRUPTED, "call it again",
				 "the wait was interrupted; cell '%s' has not agreed yet", cell->name);
	return qv_refuse(r, QV_E_NOT_AGREED, "tell it so by its own means (Quest's shell: unlock), and try again",
			 "cell '%s' did not agree within %u ms: management stays locked", cell->name, timeout_ms);
}
