// SPDX-License-Identifier: GPL-2.0-only
/* The failure of a cell: its record, its event, and the refusal of calls after a CPU was lost. */
#include "abi/status.h"
#include "qv.h"
#include "cells.h"
#include "cell/steps.h"

void qv_failure_record(struct qv_cell *cell, const struct qv_mon_failure *f, const char *more)
{
	cell->failure = *f;
	cell->failures++;
	cell->state = QV_STATE_FAILED;
	qv_event(QV_EVENT_CELL, QV_STATE_FAILED, cell->name,
		 "failed: %s%s (address %#llx, RIP %#llx, CPU %u)", qv_failure_sentence(f->reason),
		 more, f->address, f->rip, f->cpu);
}

void qv_failure_lost(struct qv_cell *cell, u32 cpu)
{
	struct qv_mon_failure f = { .reason = QV_FAIL_CPU_LOST, .cpu = cpu, .tsc = qv_rdtsc() };

	if (cell->failure.reason == QV_FAIL_CPU_LOST)
		return;
	if (cell->failure.reason)
		cell->last_failure = cell->failure;
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
