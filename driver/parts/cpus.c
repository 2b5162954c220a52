// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cell's CPUs: they go offline in Linux before the monitor gets them, and come online again
 * afterwards, except those that are kept for the next cell (kept.c).
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include "abi/create.h"
#include "abi/status.h"
#include "qv.h"
#include "cells.h"
#include "cross.h"
#include "parts/cpus.h"
#include "parts/kept.h"

/* CPUs that have left Linux for a cell. notify_cpu() reads it without qv_lock */
static cpumask_t cpus_in_cells;

bool qv_cpu_in_cell(u32 linux_cpu)
{
	return cpumask_test_cpu(linux_cpu, &cpus_in_cells);
}

static int cpus_check(struct qv_reply *r, const struct qv_cell_create *q)
{
	u32 i, j;

	if (!q->num_cpus || q->num_cpus > QV_MAX_CPUS)
		return qv_refuse(r, QV_E_CPU, "list at least one CPU",
				 "the cell has no CPUs, or too many");
	for (i = 0; i < q->num_cpus; i++) {
		u32 cpu = q->cpus[i];

		if (cpu == 0)
			return qv_refuse(r, QV_E_CPU, "choose others", "CPU 0 never leaves Linux");
		for (j = 0; j < i; j++)
			if (q->cpus[j] == cpu)
				return qv_refuse(r, QV_E_CPU, "list each CPU once",
						 "CPU %u is listed twice", cpu);
		if (cpu < nr_cpu_ids && qv_cpu_in_cell(cpu))
			return qv_refuse(r, QV_E_CPU, "see 'qvctl cell list' for its cell",
					 "CPU %u belongs to another cell", cpu);
		if (qv_cpu_index(cpu) < 0)
			return qv_refuse(r, QV_E_CPU,
					 "choose another (qvctl status, qvctl doctor)",
					 "CPU %u does not exist or is not under the monitor", cpu);
		if (!cpu_online(cpu) && !qv_cpu_kept(cpu))
			return qv_refuse_offline(r, cpu, "");
	}
	return 0;
}

/* Has a program a SCHED_DEADLINE thread? Those of the kernel (schedutil) need no CPU time */
bool qv_cpus_have_deadlines(void)
{
	struct task_struct *process, *thread;
	bool found = false;

	rcu_read_lock();
	for_each_process_thread(process, thread)
		found |= thread->policy == SCHED_DEADLINE && !(thread->flags & PF_KTHREAD);
	rcu_read_unlock();
	return found;
}

/*
 * Returns an errno of remove_cpu(), or 0. From now on notify_cpu() keeps this CPU offline. Another
 * program may bring a kept CPU online: before the lock is taken, or not at all.
 */
static int cpus_take_one(u32 cpu)
{
	bool online;
	int error;

	cpus_read_lock();
	cpumask_set_cpu(cpu, &cpus_in_cells);
	online = cpu_online(cpu);
	cpus_read_unlock();
	if (!online && qv_cpu_kept(cpu))	/* IPIs of Linux are filtered: see kept.c */
		return 0;
	error = remove_cpu(cpu);
	if (error)
		cpumask_clear_cpu(cpu, &cpus_in_cells);
	return error;
}

static int cpus_take(struct qv_reply *r, struct qv_cell *cell)
{
	for (; cell->cpus_taken < cell->num_cpus; cell->cpus_taken++) {
		u32 cpu = cell->cpus[cell->cpus_taken];
		int error = cpus_take_one(cpu);

		if (error)
			return qv_refuse_cpu(r, cpu, error, qv_cpus_have_deadlines());
	}
	return 0;
}

static void cpus_info(const struct qv_cell *cell, struct qv_info *info)
{
	const struct qv_mon_status *front = qv_front_status();
	u32 i;

	info->num_cpus = cell->num_cpus;
	for (i = 0; i < cell->num_cpus; i++)
		info->apic_ids[i] = front->cpus[qv_cpu_index(cell->cpus[i])].apic_id;
}

static void cpus_describe(const struct qv_cell *cell, struct qv_mon_create *m)
{
	u32 i;

	m->num_cpus = cell->num_cpus;
	for (i = 0; i < cell->num_cpus; i++)
		m->cpus[i] = qv_cpu_index(cell->cpus[i]);
}

static void cpus_show(const struct qv_cell *cell, struct qv_cell_info *info)
{
	info->num_cpus = cell->num_cpus;
	memcpy(info->cpus, cell->cpus, sizeof(info->cpus));
}

/*
 * A CPU that does not answer the monitor stays offline and with the cell: it is unknown what it
 * executes
 */
int qv_cpus_give(struct qv_cell *cell)
{
	int refused = -1;
	u32 i, kept = 0;

	for (i = 0; i < cell->cpus_taken; i++) {
		u32 cpu = cell->cpus[i];

		if (qv_cpu_lost(cpu)) {
			cell->cpus[kept++] = cpu;
			continue;
		}
		cpumask_clear_cpu(cpu, &cpus_in_cells);
		set_cpu_present(cpu, true);	/* qv_ipi_cpu_went() may have cleared this */
		if (!qv_cpu_kept(cpu) && add_cpu(cpu)) {
			qv_log("driver", "CPU %u of cell %s did not come back online", cpu,
			       cell->name);
			refused = cpu;
		}
	}
	cell->cpus_taken = kept;
	if (kept)
		cell->num_cpus = kept;
	return refused;
}

static void cpus_give(struct qv_cell *cell)
{
	qv_cpus_give(cell);
}

const struct qv_part qv_part_cpus = {
	.check = cpus_check,
	.take = cpus_take,
	.info = cpus_info,
	.describe = cpus_describe,
	.show = cpus_show,
	.give = cpus_give,
	.unload = qv_kept_drop,
};
