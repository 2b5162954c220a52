// SPDX-License-Identifier: GPL-2.0-only
/* The failure of a cell: its record, its event, and the refusal of calls after a CPU was lost. */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <asm/tsc.h>
#include "abi/status.h"
#include "qv.h"
#include "cells.h"
#include "cell/steps.h"

/* Returns CLOCK_BOOTTIME of a moment of the TSC, to a millisecond; of now if it is 0. */
static u64 failure_time(u64 tsc)
{
	u64 now = qv_rdtsc(), ago = tsc && tsc < now ? now - tsc : 0;

	return ktime_get_boottime_ns() - div_u64(ago, tsc_khz) * NSEC_PER_MSEC;
}

void qv_failure_keep(struct qv_cell *cell)
{
	if (!cell->failure.reason)
		return;
	cell->last_failure = cell->failure;
	cell->last_failed_ns = cell->failed_ns;
}

void qv_failure_record(struct qv_cell *cell, const struct qv_mon_failure *f, const char *more)
{
	cell->failure = *f;
	cell->failed_ns = failure_time(f->tsc);
	cell->failures++;
	cell->state = QV_STATE_FAILED;
	qv_event(QV_EVENT_CELL, QV_STATE_FAILED, cell->name,
		 "failed: %s%s (address %#llx, RIP %#llx, CPU %u)", qv_failure_sentence(f->reason),
		 more, f->address, f->rip, f->cpu);
}

void qv_failure_fetch(struct qv_cell *cell)
{
	if (!cell->id || cell->failure.reason)
		return;
	cell->failure = qv_cell_status(cell)->failure;
	if (cell->failure.reason)
		cell->failed_ns = failure_time(cell->failure.tsc);
}

#define RESTART_MAX_MS	10000	/* more is no restart: the cell may write any number */

void qv_failure_again(struct qv_cell *cell, const struct qv_mon_failure *f, u32 times,
		      u64 entered, const char *more)
{
	cell->last_failure = *f;
	cell->last_failed_ns = failure_time(f->tsc);
	cell->failures += times;
	cell->restarts += times;
	cell->restart_ns = entered - f->tsc < (u64)tsc_khz * RESTART_MAX_MS ?
		div_u64((entered - f->tsc) * 1000000, tsc_khz) : 0;
	qv_event(QV_EVENT_CELL, QV_STATE_RUNNING, cell->name,
		 "failed, and runs again after %llu us: %s%s (address %#llx, RIP %#llx, CPU %u)",
		 div_u64(cell->restart_ns, 1000), qv_failure_sentence(f->reason), more, f->address,
		 f->rip, f->cpu);
}

void qv_failure_lost(struct qv_cell *cell, u32 cpu)
{
	struct qv_mon_failure f = { .reason = QV_FAIL_CPU_LOST, .cpu = cpu, .tsc = qv_rdtsc() };

	if (cell->failure.reason == QV_FAIL_CPU_LOST)
		return;
	qv_failure_keep(cell);
	qv_failure_record(cell, &f, "");
}

int qv_failure_refuse_lost(struct qv_reply *r, const struct qv_cell *cell)
{
	return qv_refuse(r, QV_E_CPU_STUCK,
			 "destroy the cell again if the CPU comes back, "
			 "else restart the machine when it can be spared",
			 "CPU %u of cell '%s' does not answer the monitor: it stays offline, "
			 "with the cell's memory and devices",
			 cell->failure.cpu, cell->name);
}
