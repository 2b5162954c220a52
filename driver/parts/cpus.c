// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cell's CPUs: they go offline in Linux before the monitor gets them, and come online again
 * afterwards.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include "abi/create.h"
#include "qv.h"
#include "cells.h"

/* CPUs that have left Linux for a cell. notify_cpu() reads it without qv_lock */
static cpumask_t cpus_in_cells;

bool qv_cpu_in_cell(u32 linux_cpu)
{
	return cpumask_test_cpu(linux_cpu, &cpus_in_cells);
}

int qv_cpus_take(struct qv_reply *r, struct qv_cell *cell)
{
	for (; cell->cpus_taken < cell->num_cpus; cell->cpus_taken++) {
		u32 cpu = cell->cpus[cell->cpus_taken];
		int error;

		/* from now on notify_cpu() keeps it offline */
		cpumask_set_cpu(cpu, &cpus_in_cells);
		error = remove_cpu(cpu);
		if (error)
			cpumask_clear_cpu(cpu, &cpus_in_cells);
		if (error)
			return qv_refuse(r, QV_E_CPU, "see the kernel log (dmesg) for what holds it",
					 "Linux does not let go of CPU %u (error %d)", cpu, error);
	}
	return 0;
}

void qv_cpus_describe(const struct qv_cell *cell, struct qv_mon_create *m)
{
	u32 i;

	m->num_cpus = cell->num_cpus;
	for (i = 0; i < cell->num_cpus; i++)
		m->cpus[i] = qv_cpu_index(cell->cpus[i]);
}

/*
 * A CPU that does not answer the monitor stays offline and with the cell: it is unknown what it
 * executes
 */
void qv_cpus_give(struct qv_cell *cell)
{
	u32 i, kept = 0;

	for (i = 0; i < cell->cpus_taken; i++) {
		u32 cpu = cell->cpus[i];

		if (qv_cpu_lost(cpu)) {
			cell->cpus[kept++] = cpu;
			continue;
		}
		cpumask_clear_cpu(cpu, &cpus_in_cells);
		if (add_cpu(cpu))
			qv_log("driver", "CPU %u of cell %s did not come back online", cpu, cell->name);
	}
	cell->cpus_taken = kept;
	if (kept)
		cell->num_cpus = kept;
}
