// SPDX-License-Identifier: GPL-2.0-only
/*
 * A sample: the registers of a CPU of a running cell, as the cell's instance of the monitor has
 * them at its next exit.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "abi/status.h"
#include "qv.h"
#include "cells.h"
#include "cell/life.h"

#define SAMPLE_MS	1000	/* deadline for a sample; a CPU usually answers in microseconds */

static int sample_check(struct qv_cell_sample *s, const struct qv_cell *cell, u32 index)
{
	struct qv_reply *r = &s->reply;

	if (!cell->config->debug)
		return qv_refuse(r, QV_E_NO_DEBUG,
				 "say 'debug: true' in its file and create it again",
				 "cell '%s' does not show its registers while it runs", cell->name);
	if (cell->state != QV_STATE_RUNNING)
		return qv_refuse(r, QV_E_STATE, "", "cell '%s' is not running", cell->name);
	if (index == cell->num_cpus)
		return qv_refuse(r, QV_E_CPU, "see 'qvctl cell show'",
				 "CPU %u is not one of cell '%s'", s->cpu, cell->name);
	return 0;
}

static bool sample_await(const u64 *samples, u64 seen)
{
	u64 end = ktime_get_ns() + SAMPLE_MS * NSEC_PER_MSEC;

	while (smp_load_acquire(samples) == seen) {
		if (ktime_get_ns() > end)
			return false;
		usleep_range(20, 50);
	}
	return true;
}

int qv_cell_sample(struct qv_cell_sample *s, struct qv_cell *cell)
{
	const struct qv_mon_status *status;
	u32 index = 0;
	u64 seen, result;
	int error;

	while (index < cell->num_cpus && cell->cpus[index] != s->cpu)
		index++;
	error = sample_check(s, cell, index);
	if (error)
		return error;
	status = qv_cell_status(cell);
	seen = READ_ONCE(status->samples);
	result = qv_manage(QV_HC_SAMPLE, cell->id | index << 8);
	if (result == QV_ME_STATE)	/* the cell has failed since qv_watch_now() */
		return qv_refuse(&s->reply, QV_E_STATE, "", "cell '%s' is not running", cell->name);
	if (result)
		return qv_refuse_monitor(&s->reply, result, "look at the cell");
	BUILD_BUG_ON(sizeof(s->at) != sizeof(status->sample));
	if (sample_await(&status->samples, seen))
		memcpy(&s->at, &status->sample, sizeof(s->at));
	if (s->at.cpu != s->cpu)	/* no answer, or a late answer to the previous sample */
		return qv_refuse(&s->reply, QV_E_CPU_STUCK, "try again; see 'qvctl log'",
				 "CPU %u of cell '%s' did not report its state", s->cpu,
				 cell->name);
	return 0;
}
