// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of a cell that has failed or was shut down. The monitor gives it back to Linux without
 * clearing it, since the cell was created with .debug. Until the cell is started or destroyed, the
 * driver keeps it as it is.
 */
#include <linux/uaccess.h>
#include "qv.h"
#include "cells.h"
#include "watch.h"
#include "cell/life.h"
#include "cell/steps.h"

static int dump_check(struct qv_reply *r, const struct qv_cell *cell)
{
	if (!cell->config->debug)
		return qv_refuse(r, QV_E_NO_DEBUG,
				 "say 'debug: true' in its file and create it again",
				 "cell '%s' does not show its memory, even after it has ended",
				 cell->name);
	if (cell->state != QV_STATE_FAILED && cell->state != QV_STATE_SHUT_DOWN)
		return qv_refuse(r, QV_E_STATE, "shut it down, or wait until it fails",
				 "cell '%s' has not ended, and its memory is its own until then",
				 cell->name);
	return 0;
}

/* Takes the cell from the monitor, if the monitor has it, and keeps what goes with its instance */
static int dump_take(struct qv_reply *r, struct qv_cell *cell)
{
	int error = qv_handover_stop(r, cell);

	if (error)
		return error;
	if (cell->failure.reason == QV_FAIL_CPU_LOST)
		return qv_failure_refuse_lost(r, cell);
	qv_failure_fetch(cell);
	qv_watch_now();		/* the last lines of its log */
	return qv_handover_reclaim(r, cell);
}

int qv_cell_memory(struct qv_cell_memory *m, struct qv_cell *cell)
{
	struct qv_reply *r = &m->reply;
	int error = dump_check(r, cell);

	if (!error)
		error = dump_take(r, cell);
	if (error)
		return error;
	m->len = min_t(u64, min_t(u64, m->len, QV_HUGE),
		       cell->config->memory - min(m->from, cell->config->memory));
	if (!qv_memory_read(&cell->memory, m->from, u64_to_user_ptr(m->buf), m->len))
		return qv_refuse(r, QV_E_ARGUMENT, "", "the buffer is not writable");
	return 0;
}
