// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks periodically at the status, the log and the heartbeat of each instance. It turns a failure
 * into an event, a log entry into a sentence, and a heartbeat that has stopped into a failure.
 *
 * Each look reads what a cell writes into its comm page once. By writing there, the cell can harm
 * only itself.
 */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include <asm/tsc.h>
#include "abi/status.h"
#include "qv.h"
#include "cells.h"
#include "watch.h"
#include "cell/steps.h"
#include "parts/console.h"
#include "parts/pci.h"

#define WATCH_PERIOD_MS	50
#define WATCH_HEIRS_MS	4		/* while a cell waits for a PCI function of another one */

static u64 watch_front_seen[QV_MON_LOG_RINGS];
/* the time up to which watchdogs have counted */
static u64 watch_counted_ns;

/* Stops a hung cell. Returns false, with a line in the log, if it cannot be stopped */
static bool watch_stop_cell(struct qv_cell *cell)
{
	struct qv_reply r = { 0 };
	int error = qv_handover_stop(&r, cell);

	if (error)
		qv_log("driver", "%s is not stopped: %s", cell->name, r.text);
	return !error;
}

static void watch_lock(struct qv_cell *cell)
{
	bool locked = qv_cell_locked(cell);

	if (locked == cell->was_locked)
		return;
	cell->was_locked = locked;
	qv_event(QV_EVENT_LOCK, locked, cell->name,
		 locked ? "has locked management" : "management is unlocked");
}

/* Copies the inmate's words, which may change meanwhile, after a colon. */
static void watch_panic_text(char *to, const struct qv_comm *comm)
{
	u32 i;

	to[0] = ':';
	to[1] = ' ';
	for (i = 0; i < QV_PANIC_LEN; i++) {
		char c = READ_ONCE(comm->panic[i]);

		if (!c)
			break;
		to[2 + i] = c >= ' ' && c <= '~' ? c : '?';
	}
	to[i ? 2 + i : 0] = 0;
}

/*
 * The cell cannot continue, since its heartbeat has stopped or it says so: the monitor stops the
 * cell and records its registers, unless management is locked
 */
static void watch_end(struct qv_cell *cell, u32 reason)
{
	struct qv_mon_failure f = { .cpu = cell->cpus[0] };
	char more[QV_PANIC_LEN + 64] = "";
	bool stopped;

	cell->stop_later = qv_lock_holder();
	stopped = !cell->stop_later && watch_stop_cell(cell);
	if (cell->failure.reason == QV_FAIL_CPU_LOST)
		return;
	if (stopped)
		f = qv_cell_status(cell)->failure;
	/* the monitor has recorded a failure of the cell meanwhile */
	if (f.reason) {
		qv_failure_record(cell, &f, "");
		return;
	}
	f.reason = reason;
	if (reason == QV_FAIL_PANIC)
		watch_panic_text(more, cell->console->comm);
	strlcat(more, stopped ? "" :
		cell->stop_later ? "; it continues, management is locked" :
		"; it could not be stopped", sizeof(more));
	qv_failure_record(cell, &f, more);
}

static void watch_heartbeat(struct qv_cell *cell, u32 ms)
{
	const struct qv_comm *comm = cell->console->comm;
	u64 beat = READ_ONCE(comm->heartbeat);

	bool panicked = READ_ONCE(comm->state) == QV_INMATE_PANICKED;

	cell->panicked_ms = !panicked ? 0 : cell->panicked_ms ? cell->panicked_ms + ms : 1;
	/* on standby, the inmate fails by a call, soon after it has written this */
	if (panicked && (!cell->config->standby ||
			 cell->panicked_ms >= WATCH_PERIOD_MS - WATCH_HEIRS_MS)) {
		watch_end(cell, QV_FAIL_PANIC);
		return;
	}
	if (beat != cell->beat || READ_ONCE(comm->state) == QV_INMATE_HALTED) {
		cell->beat = beat;
		cell->still_ms = 0;
		return;
	}
	/* an inmate without a heartbeat is not watched */
	if (!beat || !cell->config->watchdog_ms)
		return;
	cell->still_ms += ms;
	if (cell->still_ms >= cell->config->watchdog_ms)
		watch_end(cell, QV_FAIL_WATCHDOG);
}

#define WATCH_ENTRY_MS	1000		/* the cell's ROM takes less time, if the cell is honest */

/*
 * The cell may have begun again by itself. Its monitor writes the failure, .failures, and .state in
 * this order. One failure that changes meanwhile is read at the next look, and so is one whose
 * restart is not over
 */
static void watch_standby(struct qv_cell *cell, const struct qv_mon_status *status)
{
	u32 failures = smp_load_acquire(&status->failures);
	struct qv_mon_failure f = status->failure;
	char more[QV_PANIC_LEN + 3] = "";
	u64 entered;
	u32 state;

	smp_rmb();
	state = READ_ONCE(status->state);
	entered = READ_ONCE(cell->console->comm->entered_tsc);
	if (failures == cell->restarts || state == QV_MON_FAILED)
		return;
	/* a cell that fails again and again is reported before its last restart is over */
	if (failures == cell->restarts + 1 &&
	    (state != QV_MON_RUNNING || READ_ONCE(status->failures) != failures ||
	     ((s64)(entered - f.tsc) < 0 &&
	      qv_rdtsc() - f.tsc < (u64)tsc_khz * WATCH_ENTRY_MS)))
		return;
	if (f.reason == QV_FAIL_PANIC)
		watch_panic_text(more, cell->console->comm);
	cell->beat = cell->still_ms = 0;
	qv_failure_again(cell, &f, failures - cell->restarts, entered, more);
}

static void watch_cell(struct qv_cell *cell, u32 ms)
{
	struct qv_mon_status *status = qv_cell_status(cell);
	char more[QV_PANIC_LEN + 3] = "";

	if (cell->id)
		qv_log_drain(cell->name, cell->monitor_mem, cell->log_seen);
	watch_lock(cell);
	/* the key queue may have room again, or there is output: wake those who wait in poll() */
	wake_up_interruptible(&cell->console->wait);
	if (cell->state == QV_STATE_RUNNING)
		watch_standby(cell, status);
	if (cell->state == QV_STATE_RUNNING && READ_ONCE(status->state) == QV_MON_FAILED) {
		if (status->failure.reason == QV_FAIL_PANIC)
			watch_panic_text(more, cell->console->comm);
		/* on standby, the look may have missed failures before this one */
		if (status->failures > cell->restarts + 1) {
			cell->failures += status->failures - cell->restarts - 1;
			cell->restarts = status->failures - 1;
		}
		qv_parts_end(cell);
		qv_failure_record(cell, &status->failure, more);
	} else if (cell->state == QV_STATE_RUNNING) {
		watch_heartbeat(cell, ms);
	} else if (cell->stop_later && !qv_lock_holder()) {
		/* try once: a CPU that does not answer costs QV_DEADLINE_MS */
		cell->stop_later = false;
		if (cell->state == QV_STATE_FAILED)
			watch_stop_cell(cell);
	}
}

static u32 watch_looks;			/* number of periodic looks */

static void watch_all(u32 ms)
{
	struct qv_cell *cell;

	if (!qv_takeover.enabled)
		return;
	if (!ms || ++watch_looks % (MSEC_PER_SEC / WATCH_PERIOD_MS) == 0)
		qv_iommu_look();
	qv_log_drain(QV_FRONT_END, qv_takeover.monitor_mem, watch_front_seen);
	list_for_each_entry(cell, &qv_cells, list)
		watch_cell(cell, ms);
	qv_pci_inherit();
}

/* Returns true if a cell waits for a function of a running cell. *@failed: that cell has failed */
static bool watch_heirs(bool *failed)
{
	struct qv_cell *cell;
	bool waits = false;

	list_for_each_entry(cell, &qv_cells, list) {
		if (cell->state != QV_STATE_RUNNING || !qv_pci_has_heir(cell))
			continue;
		waits = true;
		/* a cell on standby may begin again: its monitor says when it has failed */
		*failed |= READ_ONCE(qv_cell_status(cell)->state) == QV_MON_FAILED ||
			   (!cell->config->standby &&
			    READ_ONCE(cell->console->comm->state) == QV_INMATE_PANICKED);
	}
	return waits;
}

void qv_watch_now(void)
{
	watch_all(0);
}

static void watch_periodically(struct work_struct *work);
static DECLARE_DELAYED_WORK(watch_work, watch_periodically);

static u32 watch_period_ms = WATCH_PERIOD_MS;	/* kept while another call holds qv_lock */

static void watch_periodically(struct work_struct *work)
{
	bool failed = false;

	if (mutex_trylock(&qv_lock)) {
		u64 now = ktime_get_ns(), ms = div_u64(now - watch_counted_ns, NSEC_PER_MSEC);

		watch_period_ms = watch_heirs(&failed) ? WATCH_HEIRS_MS : WATCH_PERIOD_MS;
		/*
		 * A late look means that Linux, and perhaps the cell as well, was not running: so
		 * watchdogs count at most one period per look.
		 */
		if (failed || ms >= WATCH_PERIOD_MS - WATCH_HEIRS_MS) {
			watch_all(min_t(u64, ms, WATCH_PERIOD_MS));
			watch_counted_ns = now;
		}
		mutex_unlock(&qv_lock);
	}
	schedule_delayed_work(&watch_work, msecs_to_jiffies(watch_period_ms));
}

void qv_watch_start(void)
{
	memset(watch_front_seen, 0, sizeof(watch_front_seen));
	watch_counted_ns = ktime_get_ns();
	schedule_delayed_work(&watch_work, 0);
}

void qv_watch_stop(void)
{
	cancel_delayed_work_sync(&watch_work);
}
