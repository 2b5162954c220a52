// SPDX-License-Identifier: GPL-2.0-only
/* Exit counters, read from the instances' open parts: no exit is needed to count exits. */
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/uaccess.h>
#include <asm/tsc.h>
#include "qv.h"

static struct qv_mon_status *front_status(void)
{
	return page_address(qv_takeover.block) + QV_OFF_STATUS;
}

/* What a CPU asked for itself is not in held_max: wherever the caller ran, nobody is left out */
u64 qv_held_ns(void)
{
	struct qv_mon_status *s = front_status();
	u64 max = 0;
	u32 i;

	for (i = 0; i < s->num_cpus && i < QV_MON_CPUS; i++)
		if (!qv_cpu_in_cell(s->cpus[i].linux_cpu))
			max = max_t(u64, max, READ_ONCE(s->cpus[i].held_max));
	return div_u64(max * 1000000, tsc_khz);
}

static void convert(struct qv_cpu_stats *to, const struct qv_mon_cpu_status *from)
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
}

int qv_stats_read(struct qv_stats *s)
{
	struct qv_mon_status *status;
	struct qv_cpu_stats one;
	struct qv_cell *cell;
	u32 i;

	if (!qv_takeover.enabled)
		return qv_refuse(&s->reply, QV_E_NOT_ENABLED, "qvctl enable", "QV is not enabled");
	if (!strcmp(s->name, QV_FRONT_END)) {
		status = front_status();
	} else {
		cell = qv_cell_find(s->name);
		if (!cell)
			return qv_refuse(&s->reply, QV_E_NO_CELL, "see 'qvctl cell list'",
					 "there is no cell '%.31s'", s->name);
		status = qv_cell_status(cell);
	}
	for (i = 0; i < status->num_cpus && i < s->num_cpus && i < QV_MON_CPUS; i++) {
		convert(&one, &status->cpus[i]);
		if (copy_to_user(u64_to_user_ptr(s->cpus) + i * sizeof(one), &one, sizeof(one)))
			return qv_refuse(&s->reply, QV_E_ARGUMENT, "", "the buffer is not writable");
	}
	s->num_cpus = i;
	if (s->reset_held && !strcmp(s->name, QV_FRONT_END))
		qv_manage(QV_HC_RESET_HELD, 0);
	return 0;
}
