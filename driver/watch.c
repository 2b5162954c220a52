// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks at what the instances show: failures become events, log entries sentences, and a
 * heartbeat that stands still a failure.
 *
 * What a cell writes in its comm page is read once at each look and believed in nothing
 * that concerns others: it can only harm itself by it.
 */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/workqueue.h>
#include "qv.h"

#define PERIOD_MS	50

static u64 front_seen;
static u64 counted_ns;			/* until when watchdogs have counted */

static void note_failure(struct qv_cell *cell, const struct qv_mon_failure *f, const char *more)
{
	cell->failure = *f;
	cell->failures++;
	cell->state = QV_STATE_FAILED;
	qv_event(QV_EVENT_CELL, QV_STATE_FAILED, cell->name, "failed: %s%s (address %#llx, RIP %#llx, CPU %u)",
		 qv_failure_sentence(f->reason), more, f->address, f->rip, f->cpu);
}

void qv_watch_lost(struct qv_cell *cell, u32 cpu)
{
	struct qv_mon_failure f = { .reason = QV_FAIL_CPU_LOST, .cpu = cpu, .tsc = qv_rdtsc() };

	if (cell->failure.reason == QV_FAIL_CPU_LOST)
		return;
	if (cell->failure.reason)
		cell->last_failure = cell->failure;
	note_failure(cell, &f, "");
}

static void note_lock(struct qv_cell *cell)
{
	bool locked = qv_cell_locked(cell);

	if (locked == cell->was_locked)
		return;
	cell->was_locked = locked;
	qv_event(QV_EVENT_LOCK, locked, cell->name, locked ? "has locked management" : "management is unlocked");
}

/* It hangs: the monitor stops it and notes where it stood, unless a lock forbids that */
static void note_hang(struct qv_cell *cell)
{
	struct qv_mon_failure f = { .cpu = cell->cpus[0] };
	bool stopped;

	cell->stop_later = qv_lock_holder();
	stopped = !cell->stop_later && !qv_cell_stop(cell);
	if (cell->failure.reason == QV_FAIL_CPU_LOST)
		return;
	if (stopped)
		f = qv_cell_status(cell)->failure;
	if (f.reason) {			/* the monitor has found something meanwhile */
		note_failure(cell, &f, "");
		return;
	}
	f.reason = QV_FAIL_WATCHDOG;
	note_failure(cell, &f, stopped ? "" : cell->stop_later ? "; it goes on, management is locked" :
		     "; it could not be stopped");
}

static void watchdog(struct qv_cell *cell, u32 ms)
{
	const struct qv_comm *comm = cell->console->comm;
	u64 beat = READ_ONCE(comm->heartbeat);

	if (beat != cell->beat || READ_ONCE(comm->state) == QV_INMATE_HALTED) {
		cell->beat = beat;
		cell->still_ms = 0;
		return;
	}
	if (!beat || !cell->config->watchdog_ms)	/* it has never beaten: perhaps it never will */
		return;
	cell->still_ms += ms;
	if (cell->still_ms >= cell->config->watchdog_ms)
		note_hang(cell);
}

static void look_at(struct qv_cell *cell, u32 ms)
{
	struct qv_mon_status *status = qv_cell_status(cell);

	if (cell->id)
		qv_log_drain(cell->name, cell->block, &cell->log_seen);
	note_lock(cell);
	wake_up_interruptible(&cell->console->wait);	/* it may have taken keys: there is room */
	if (cell->state == QV_STATE_RUNNING && READ_ONCE(status->state) == QV_MON_FAILED) {
		qv_console_set_instance(cell->console, 0);
		note_failure(cell, &status->failure, "");
	} else if (cell->state == QV_STATE_RUNNING) {
		watchdog(cell, ms);
	} else if (cell->stop_later && !qv_lock_holder()) {
		cell->stop_later = false;	/* once: a CPU that does not answer is waited for 2 s */
		if (cell->state == QV_STATE_FAILED)
			qv_cell_stop(cell);
	}
}

static void look(u32 ms)
{
	struct qv_cell *cell;

	if (!qv_takeover.enabled)
		return;
	qv_log_drain(QV_FRONT_END, qv_takeover.block, &front_seen);
	list_for_each_entry(cell, &qv_cells, list)
		look_at(cell, ms);
}

void qv_watch_now(void)
{
	look(0);
}

static void watch(struct work_struct *work);
static DECLARE_DELAYED_WORK(watch_work, watch);

static void watch(struct work_struct *work)
{
	if (mutex_trylock(&qv_lock)) {
		u64 now = ktime_get_ns();

		/*
		 * Where this look comes late, Linux (or the whole machine) stood still, and who
		 * knows about the cell: at most one period counts for it.
		 */
		look(min_t(u64, div_u64(now - counted_ns, NSEC_PER_MSEC), PERIOD_MS));
		counted_ns = now;
		mutex_unlock(&qv_lock);
	}
	schedule_delayed_work(&watch_work, msecs_to_jiffies(PERIOD_MS));
}

void qv_watch_start(void)
{
	front_seen = 0;
	counted_ns = ktime_get_ns();
	schedule_delayed_work(&watch_work, 0);
}

void qv_watch_stop(void)
{
	cancel_delayed_work_sync(&watch_work);
}
