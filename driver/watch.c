// SPDX-License-Identifier: GPL-2.0-only
/* Looks at what the instances show: failures become events, log entries sentences. */
#include <linux/mm.h>
#include <linux/workqueue.h>
#include "qv.h"

#define PERIOD_MS	50

static u64 front_seen;

static void look_at(struct qv_cell *cell)
{
	static const char * const why[] = {
		[QV_FAIL_MEMORY] = "it touched memory that is not its own",
		[QV_FAIL_MSR] = "it used an MSR outside the allow list",
		[QV_FAIL_PORT] = "it used a port outside its list",
		[QV_FAIL_TRIPLE_FAULT] = "triple fault",
		[QV_FAIL_INSTRUCTION] = "it used an instruction a cell may not use",
		[QV_FAIL_IPI] = "it sent an interrupt to a CPU that is not its own",
		[QV_FAIL_EXIT] = "an exit the monitor does not expect",
		[QV_FAIL_MONITOR] = "a fault in its own monitor instance",
		[QV_FAIL_WATCHDOG] = "its heartbeat stopped",
	};
	struct qv_mon_status *status = qv_cell_status(cell);
	u32 reason;

	if (cell->id)
		qv_log_drain(cell->name, cell->block, &cell->log_seen);
	wake_up_interruptible(&cell->console->wait);	/* it may have taken keys: there is room */
	if (cell->state != QV_STATE_RUNNING || READ_ONCE(status->state) != QV_MON_FAILED)
		return;
	cell->failure = status->failure;
	cell->state = QV_STATE_FAILED;
	qv_console_set_instance(cell->console, 0);
	reason = cell->failure.reason;
	qv_event(QV_EVENT_CELL, QV_STATE_FAILED, cell->name, "failed: %s (address %#llx, RIP %#llx, CPU %u)",
		 reason < ARRAY_SIZE(why) && why[reason] ? why[reason] : "unknown reason",
		 cell->failure.address, cell->failure.rip, cell->failure.cpu);
}

void qv_watch_now(void)
{
	struct qv_cell *cell;

	if (!qv_takeover.enabled)
		return;
	qv_log_drain(QV_FRONT_END, qv_takeover.block, &front_seen);
	list_for_each_entry(cell, &qv_cells, list)
		look_at(cell);
}

static void watch(struct work_struct *work);
static DECLARE_DELAYED_WORK(watch_work, watch);

static void watch(struct work_struct *work)
{
	if (mutex_trylock(&qv_lock)) {
		qv_watch_now();
		mutex_unlock(&qv_lock);
	}
	schedule_delayed_work(&watch_work, msecs_to_jiffies(PERIOD_MS));
}

void qv_watch_start(void)
{
	front_seen = 0;
	schedule_delayed_work(&watch_work, 0);
}

void qv_watch_stop(void)
{
	cancel_delayed_work_sync(&watch_work);
}
