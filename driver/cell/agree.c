// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lock, unlock, and the wait for an inmate to comply with a request. The wait drops qv_lock, so
 * that other calls are possible meanwhile.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include "abi/calls.h"
#include "qv.h"
#include "cells.h"
#include "watch.h"
#include "cell/life.h"
#include "cell/steps.h"
#include "parts/console.h"

bool qv_cell_await(const char *name, u32 timeout_ms, bool (*what)(struct qv_cell *cell))
{
	u64 end = ktime_get_boottime_ns() + (u64)timeout_ms * NSEC_PER_MSEC;
	u64 started_ns = qv_cell_find(name)->started_ns;
	struct qv_cell *cell;

	while (ktime_get_boottime_ns() < end) {
		mutex_unlock(&qv_lock);
		msleep_interruptible(5);
		mutex_lock(&qv_lock);
		cell = qv_cell_find(name);
		if (!cell || cell->started_ns != started_ns || !cell->in_monitor_running)
			return false;
		if (what(cell))
			return true;
		/* a cell that locked management may continue after its watchdog's time */
		if ((cell->state != QV_STATE_RUNNING && !qv_cell_locked(cell)) ||
		    signal_pending(current))
			return false;
	}
	return false;
}

int qv_cell_lock(struct qv_reply *r, struct qv_cell *cell)
{
	u64 result;

	if (cell->state != QV_STATE_RUNNING)
		return qv_refuse(r, QV_E_STATE, "start it first",
				 "cell '%s' does not run: it could not unlock again", cell->name);
	if (qv_cell_locked(cell))
		return qv_refuse(r, QV_E_STATE, "nothing to do",
				 "cell '%s' has locked management already", cell->name);
	if (cell->config->lock == QV_LOCK_NEVER)
		return qv_refuse(r, QV_E_ARGUMENT, "create it with `lock: may` in its description",
				 "cell '%s' was created without the right to lock management",
				 cell->name);
	result = qv_manage(QV_HC_LOCK, cell->id);
	if (result)
		return qv_refuse_monitor(r, result, "lock management");
	qv_watch_now();
	return 0;
}

static bool agree_unlocked(struct qv_cell *cell)
{
	return !qv_cell_locked(cell);
}

int qv_cell_unlock(struct qv_reply *r, struct qv_cell *cell, u32 timeout_ms)
{
	char name[QV_NAME_LEN];
	bool agreed;

	if (!qv_cell_locked(cell))
		return qv_refuse(r, QV_E_STATE, "nothing to do",
				 "cell '%s' has not locked management", cell->name);
	strscpy(name, cell->name, sizeof(name));
	qv_console_request(cell->console, QV_REQUEST_UNLOCK);
	agreed = qv_cell_await(name, timeout_ms, agree_unlocked);
	cell = qv_cell_find(name);
	if (!cell)
		return qv_no_cell(r, name);
	/* the wait is over: take the request back, so that the cell no longer agrees to it */
	qv_console_request(cell->console, QV_REQUEST_NONE);
	qv_watch_now();
	if (agreed || !qv_cell_locked(cell))
		return 0;
	if (signal_pending(current))
		return qv_refuse(r, QV_E_INTERRUPTED, "call it again",
				 "the wait was interrupted; cell '%s' has not agreed yet",
				 cell->name);
	return qv_refuse(r, QV_E_NOT_AGREED,
			 "tell it so by its own means (Quest's shell: unlock), and try again",
			 "cell '%s' did not agree within %u ms: management stays locked",
			 cell->name, timeout_ms);
}
