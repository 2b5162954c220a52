// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs that are kept ready: they go offline in Linux once, and stay offline between cells. Sending
 * a CPU offline stops all others for a moment, and so does bringing it online: with kept CPUs, that
 * is when they are kept and when they are given up, no longer at each create and destroy.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include "qv.h"
#include "cross.h"
#include "parts/cpus.h"
#include "parts/kept.h"

/* Used under qv_lock only. A program may bring such a CPU online: then a cell takes it as others */
static cpumask_t kept_cpus;
/* Only while qv_kept_set() runs: a mask is too large for the stack */
static cpumask_t kept_wanted, kept_new, kept_old;

bool qv_cpu_kept(u32 cpu)
{
	return cpumask_test_cpu(cpu, &kept_cpus);
}

static int kept_check_cpu(struct qv_reply *r, u32 cpu)
{
	if (!cpu)
		return qv_refuse(r, QV_E_CPU, "choose others", "CPU 0 never leaves Linux");
	if (cpu >= nr_cpu_ids || !cpu_possible(cpu))
		return qv_refuse(r, QV_E_CPU, "choose another", "CPU %u does not exist", cpu);
	if (qv_takeover.enabled && qv_cpu_index(cpu) < 0)
		return qv_refuse(r, QV_E_CPU, "choose another (qvctl status, qvctl doctor)",
				 "CPU %u is not under the monitor", cpu);
	if (!cpu_online(cpu) && !qv_cpu_kept(cpu) && !qv_cpu_in_cell(cpu))
		return qv_refuse_offline(r, cpu, "");
	return 0;
}

static int kept_check(struct qv_reply *r, const struct qv_pool_cpus *p)
{
	int error = 0;
	u32 i;

	cpumask_clear(&kept_wanted);
	/* to send a CPU offline, Linux waits for all others */
	if (qv_takeover_pending())
		return qv_refuse(r, QV_E_BUSY, "wait until that CPU takes interrupts again",
				 "a CPU has still to answer an earlier call");
	/* Linux stops broadcasts to a CPU when the CPU goes offline: see cross/ipi.c */
	if (p->num_cpus && qv_takeover.enabled && qv_takeover.ipi_direct)
		return qv_refuse(r, QV_E_ENABLED, "keep none, or enable QV with --ipi filtered",
				 "no CPU can be kept for cells while IPIs of Linux are direct");
	if (p->num_cpus > QV_MAX_CPUS)
		return qv_refuse(r, QV_E_ARGUMENT, "list each CPU once",
				 "%u CPUs are too many", p->num_cpus);
	for (i = 0; i < p->num_cpus && !error; i++) {
		error = kept_check_cpu(r, p->cpus[i]);
		if (!error)
			cpumask_set_cpu(p->cpus[i], &kept_wanted);
	}
	return error;
}

/* disable brings the CPUs online that outside.c knows, so that they can leave the monitor */
static void kept_mark(u32 cpu, bool kept)
{
	if (kept)
		cpumask_set_cpu(cpu, &kept_cpus);
	else
		cpumask_clear_cpu(cpu, &kept_cpus);
	qv_outside_keep(cpu, kept);
}

/*
 * A CPU in a cell comes online when the cell goes. A CPU that does not come back remains known to
 * outside.c: disable tries again
 */
static void kept_give_up(struct qv_reply *r, u32 cpu)
{
	kept_mark(cpu, false);
	if (qv_cpu_in_cell(cpu) || cpu_online(cpu) || !add_cpu(cpu))
		return;
	qv_outside_keep(cpu, true);
	qv_log("driver", "CPU %u, which was kept for cells, did not come back online", cpu);
	if (r)
		qv_reply_note(r, "bring it online by hand",
			      "CPU %u, which was kept for cells, did not come back online", cpu);
}

bool qv_kept_any(void)
{
	return !cpumask_empty(&kept_cpus);
}

int qv_kept_set(struct qv_pool_cpus *p)
{
	int error = kept_check(&p->reply, p);
	u32 cpu, taken;

	if (error)
		return error;
	cpumask_andnot(&kept_new, &kept_wanted, &kept_cpus);
	cpumask_andnot(&kept_old, &kept_cpus, &kept_wanted);
	for_each_cpu(cpu, &kept_new) {
		error = cpu_online(cpu) ? remove_cpu(cpu) : 0;
		if (error)
			break;
		kept_mark(cpu, true);
	}
	if (error) {
		for_each_cpu(taken, &kept_new)
			if (taken < cpu)
				kept_give_up(NULL, taken);
		return qv_refuse_cpu(&p->reply, cpu, error, qv_cpus_have_deadlines());
	}
	for_each_cpu(cpu, &kept_old)
		kept_give_up(&p->reply, cpu);
	if (!cpumask_empty(&kept_new) || !cpumask_empty(&kept_old))
		qv_log("driver", "%u CPUs are kept ready for cells", cpumask_weight(&kept_cpus));
	return 0;
}

void qv_kept_show(struct qv_pool_cpus *p)
{
	u32 cpu;

	p->num_cpus = 0;
	memset(p->cpus, 0, sizeof(p->cpus));
	for_each_cpu(cpu, &kept_cpus)
		if (p->num_cpus < QV_MAX_CPUS)
			p->cpus[p->num_cpus++] = cpu;
}

void qv_kept_drop(void)
{
	u32 cpu;

	cpumask_copy(&kept_old, &kept_cpus);
	for_each_cpu(cpu, &kept_old)
		kept_give_up(NULL, cpu);
}
