// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exit counters, read from the open part of the instances' memory, so that reading causes no exit
 * (law 1).
 */
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/uaccess.h>
#include <asm/tsc.h>
#include "abi/calls.h"
#include "abi/layout.h"
#include "abi/mark.h"
#include "abi/status.h"
#include "qv.h"
#include "cells.h"
#include "watch.h"
#include "parts/cpus.h"

/*
 * The caller's CPU counts as well: .held_max does not include the management calls that a CPU makes
 * itself
 */
u64 qv_held_ns(void)
{
	const struct qv_mon_status *s = qv_front_status();
	u64 max = 0;
	u32 i;

	for (i = 0; i < s->num_cpus && i < QV_MAX_CPUS; i++)
		if (!qv_cpu_in_cell(s->cpus[i].linux_cpu))
			max = max_t(u64, max, READ_ONCE(s->cpus[i].held_max));
	return div_u64(max * 1000000, tsc_khz);
}

/*
 * The longest stay and call of each CPU of the front end, up to the last measured call. Used under
 * qv_lock. A measured call restarts the monitor's own maxima; those that `cell stats linux` shows
 * do not restart.
 */
static struct { u64 held_max, call_max; } stats_earlier[QV_MAX_CPUS];

/* the session whose values stats_earlier has: qv_mon_mark.session */
static u64 stats_session;

static void stats_keep_held(void)
{
	const struct qv_mon_status *s = qv_front_status();
	const struct qv_mon_mark *mark = page_address(qv_takeover.monitor_mem) + QV_OFF_MARK;
	u32 i;

	if (mark->session != stats_session)
		memset(stats_earlier, 0, sizeof(stats_earlier));
	stats_session = mark->session;
	for (i = 0; i < s->num_cpus && i < QV_MAX_CPUS; i++) {
		stats_earlier[i].held_max = max_t(u64, stats_earlier[i].held_max,
						  READ_ONCE(s->cpus[i].held_max));
		stats_earlier[i].call_max = max_t(u64, stats_earlier[i].call_max,
						  READ_ONCE(s->cpus[i].call_max));
	}
}

void qv_held_begin(void)
{
	stats_keep_held();
	qv_manage(QV_HC_RESET_HELD, 0);
}

static void stats_convert(struct qv_cpu_stats *to, const struct qv_mon_cpu_status *from)
{
	u32 i;

	to->cpu = from->linux_cpu;
	to->apic_id = from->apic_id;
	for (i = 0; i < QV_EXIT_SLOTS; i++)
		to->exits[i] = READ_ONCE(from->exits[i]);
	to->held_max_ns = div_u64(READ_ONCE(from->held_max) * 1000000, tsc_khz);
	to->call_max_ns = div_u64(READ_ONCE(from->call_max) * 1000000, tsc_khz);
	to->cycles_in_monitor = READ_ONCE(from->cycles);
	to->denied = READ_ONCE(from->denied);
	to->bells = READ_ONCE(from->bells);
	to->bell_overruns = READ_ONCE(from->bell_overruns);
}

int qv_stats_read(struct qv_stats *s)
{
	bool front = !strcmp(s->name, QV_FRONT_END);
	const struct qv_mon_status *status;
	struct qv_cpu_stats one;
	struct qv_cell *cell;
	u32 i, n = 0;

	if (front) {
		stats_keep_held();
		status = qv_front_status();
	} else {
		cell = qv_cell_find(s->name);
		if (!cell)
			return qv_no_cell(&s->reply, s->name);
		status = qv_cell_status(cell);
	}
	for (i = 0; i < status->num_cpus && n < s->num_cpus && i < QV_MAX_CPUS; i++) {
		if (front && qv_cpu_in_cell(status->cpus[i].linux_cpu))
			/* the CPU went to a cell, so these counters belong to the cell now */
			continue;
		stats_convert(&one, &status->cpus[i]);
		if (front) {
			one.held_max_ns = div_u64(stats_earlier[i].held_max * 1000000, tsc_khz);
			one.call_max_ns = div_u64(stats_earlier[i].call_max * 1000000, tsc_khz);
		}
		if (copy_to_user(u64_to_user_ptr(s->cpus) + n++ * sizeof(one), &one, sizeof(one)))
			return qv_refuse(&s->reply, QV_E_ARGUMENT, "",
					 "the buffer is not writable");
	}
	s->num_cpus = n;
	if (s->reset_held && front) {
		qv_manage(QV_HC_RESET_HELD, 0);
		memset(stats_earlier, 0, sizeof(stats_earlier));
	}
	return 0;
}
