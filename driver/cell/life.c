// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a cell: create, start, shut down, destroy. Each call decides completely, then acts
 * (law 9).
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <asm/tsc.h>
#include "qv.h"
#include "cells.h"
#include "watch.h"
#include "cell/life.h"
#include "cell/steps.h"
#include "parts/console.h"
#include "parts/cpus.h"

static void life_free_cell(struct qv_cell *cell)
{
	qv_log_live(cell->name, false);
	list_del(&cell->list);
	qv_num_cells--;
	qv_parts_give(cell);
	vfree(cell->image);
	kvfree(cell->config);
	kfree(cell);
}

static struct qv_cell *life_new_cell(const struct qv_cell_create *q)
{
	struct qv_cell *cell = kzalloc(sizeof(*cell), GFP_KERNEL);

	if (!cell)
		return NULL;
	cell->config = kvmalloc(sizeof(*q), GFP_KERNEL);
	cell->image = vmalloc(q->image_len);
	list_add_tail(&cell->list, &qv_cells);
	qv_num_cells++;
	strscpy(cell->name, q->name, sizeof(cell->name));
	qv_log_live(cell->name, true);
	if (!cell->config || !cell->image) {
		life_free_cell(cell);
		return NULL;
	}
	*cell->config = *q;
	cell->num_cpus = q->num_cpus;
	memcpy(cell->cpus, q->cpus, sizeof(cell->cpus));
	cell->state = QV_STATE_CREATED;
	return cell;
}

/* Log entries up to now concern the cell that had this instance before, so record them first */
static int life_hand_over(struct qv_reply *r, struct qv_cell *cell)
{
	int error;

	qv_watch_now();
	error = qv_handover_create(r, cell);
	if (!error)
		qv_info_write(cell);	/* with the mode of its APICs */
	return error;
}

int qv_cell_create(struct qv_cell_create *q)
{
	struct qv_reply *r = &q->reply;
	struct qv_cell *cell;
	int error = qv_cell_check(q);

	if (error)
		return error;
	cell = life_new_cell(q);
	if (!cell)
		return qv_refuse(r, QV_E_NO_MEMORY, "free memory",
				 "no memory for the cell's image");
	if (copy_from_user(cell->image, u64_to_user_ptr(q->image), q->image_len))
		error = qv_refuse(r, QV_E_ARGUMENT, "", "the image is not readable");
	if (!error)
		error = qv_parts_take(r, cell);
	if (!error)
		error = life_hand_over(r, cell);
	if (error) {
		life_free_cell(cell);
		return error;
	}
	if (q->ipi)
		qv_log("driver",
		       "level: IPIs of cell %s are direct: it could interrupt and halt every CPU",
		       cell->name);
	qv_event(QV_EVENT_CELL, QV_STATE_LOADABLE, cell->name,
		 "created: %llu MiB, %u CPU%s in %s mode, image loaded", q->memory >> 20,
		 q->num_cpus, q->num_cpus == 1 ? "" : "s", cell->x2apic ? "x2APIC" : "xAPIC");
	return 0;
}

/* Makes a stopped cell loadable again, in the same pages, which the monitor has cleared */
static int life_renew(struct qv_reply *r, struct qv_cell *cell)
{
	int error = qv_cell_check_renew(r, cell);

	if (!error)
		error = qv_handover_stop(r, cell);
	if (!error)
		error = qv_handover_reclaim(r, cell);
	if (error)
		return error;
	cell->state = QV_STATE_CREATED;
	error = qv_parts_reset(r, cell);
	if (!error)
		error = life_hand_over(r, cell);
	if (error)
		return error;
	qv_failure_keep(cell);
	memset(&cell->failure, 0, sizeof(cell->failure));
	cell->failed_ns = 0;
	return 0;
}

int qv_cell_start(struct qv_reply *r, struct qv_cell *cell)
{
	int error;

	if (cell->state == QV_STATE_RUNNING)
		return qv_refuse(r, QV_E_STATE, "nothing to do", "cell '%s' is running already",
				 cell->name);
	/* a CPU of the cell was lost, so the cell may have fewer CPUs than its info page says */
	if (cell->failure.reason == QV_FAIL_CPU_LOST)
		return qv_failure_refuse_lost(r, cell);
	if (cell->state != QV_STATE_LOADABLE) {
		error = life_renew(r, cell);
		if (error)
			return error;
	}
	cell->beat = cell->still_ms = cell->panicked_ms = 0;
	cell->stop_later = cell->forced = false;
	cell->restarts = 0;
	cell->restart_ns = 0;
	cell->started_ns = ktime_get_boottime_ns();
	cell->start_tsc = qv_rdtsc();
	error = qv_handover_start(r, cell);
	if (error)
		return error;
	cell->first_entry_ns = div_u64((READ_ONCE(qv_cell_status(cell)->first_entry_tsc) -
					cell->start_tsc) * 1000000, tsc_khz);
	qv_event(QV_EVENT_CELL, QV_STATE_RUNNING, cell->name, "runs");
	return 0;
}

static bool life_has_halted(struct qv_cell *cell)
{
	return READ_ONCE(cell->console->comm->state) == QV_INMATE_HALTED;
}

int qv_cell_shutdown(struct qv_reply *r, struct qv_cell *cell, u32 timeout_ms)
{
	char name[QV_NAME_LEN];
	bool by_itself = false;
	u64 started;
	int error;

	if (cell->state != QV_STATE_RUNNING)
		return qv_refuse(r, QV_E_STATE, "nothing to do", "cell '%s' is not running",
				 cell->name);
	started = cell->started_ns;
	strscpy(name, cell->name, sizeof(name));
	if (timeout_ms) {
		qv_console_request(cell->console, QV_REQUEST_SHUTDOWN);
		by_itself = qv_cell_await(name, timeout_ms, life_has_halted);
		cell = qv_cell_find(name);
		if (!cell)
			return qv_no_cell(r, name);
		if (cell->state != QV_STATE_RUNNING || cell->started_ns != started)
			/* the cell failed or was stopped while qv_lock was dropped */
			return 0;
		if (!by_itself && signal_pending(current))
			return qv_refuse(r, QV_E_INTERRUPTED,
					 "call it again, or: qvctl cell destroy",
					 "the wait was interrupted; "
					 "cell '%s' was asked to shut down and may still run",
					 cell->name);
	}
	error = qv_handover_stop(r, cell);
	if (error)
		return error;
	qv_watch_now();
	if (cell->failure.reason == QV_FAIL_CPU_LOST)
		return qv_failure_refuse_lost(r, cell);
	if (cell->state == QV_STATE_RUNNING) {
		cell->state = QV_STATE_SHUT_DOWN;
		cell->forced = !by_itself;
	}
	qv_event(QV_EVENT_CELL, cell->state, cell->name,
		 by_itself ? "shut down" : "stopped by force");
	return 0;
}

int qv_cell_destroy(struct qv_reply *r, struct qv_cell *cell)
{
	char kept[QV_NAME_LEN];
	char remedy[QV_CPU_REMEDY];
	int error, cpu;

	strscpy(kept, cell->name, sizeof(kept));
	/* first, so that terminals report that the cell is gone, not that it has stopped */
	WRITE_ONCE(cell->console->gone, true);
	error = qv_handover_stop(r, cell);
	qv_watch_now();
	if (!error)
		error = qv_handover_reclaim(r, cell);
	if (error) {
		WRITE_ONCE(cell->console->gone, false);
		return error;
	}
	/* before the other parts, since life_free_cell() cannot name a CPU in the reply */
	cpu = qv_cpus_give(cell);
	if (cpu >= 0) {
		qv_cpu_remedy(remedy, sizeof(remedy),
			      "see the kernel log (dmesg) for the cause; then ", cpu);
		qv_reply_note(r, remedy, "Linux does not bring CPU %d back online", cpu);
	}
	life_free_cell(cell);
	qv_event(QV_EVENT_CELL, 0, kept, "destroyed");
	return 0;
}
