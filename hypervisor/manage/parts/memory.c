// SPDX-License-Identifier: GPL-2.0-only
/*
 * The part memory: a cell's RAM, and the console pages. Linux keeps these. They replace pages
 * of the cell's RAM, so both are checked and mapped in one place.
 */
#include "manage/part.h"
#include "manage/request.h"
#include "manage/mapping.h"

static bool run_ok(const struct instance *inst, const struct qv_mon_run *r)
{
	return r->count && r->count < 1ull << 31 &&
	       request_takable(inst, r->pa, r->count * QV_HUGE);
}

static u64 check(struct pcpu *cpu, const struct instance *inst, const struct qv_mon_create *q)
{
	u64 after = 0;
	u32 i;

	if (!request_pages_ok(inst, q->console_pa, QV_CONSOLE_LEN, 1) ||
	    request_has_console(inst, q->console_pa, QV_CONSOLE_LEN) ||
	    overlaps(q->console_pa, QV_CONSOLE_LEN, q->block_pa, QV_BLOCK_CELL))
		return QV_ME_CONSOLE;
	if (!q->num_runs || q->num_runs > QV_MON_RUNS)
		return QV_ME_MEMORY;
	for (i = 0; i < q->num_runs; i++) {
		const struct qv_mon_run *r = &q->runs[i];

		/* runs are ascending, so no page can be listed twice */
		if (r->pa < after || !run_ok(inst, r) ||
		    overlaps(r->pa, r->count * QV_HUGE, q->block_pa, QV_BLOCK_CELL) ||
		    overlaps(r->pa, r->count * QV_HUGE, q->console_pa, QV_CONSOLE_LEN))
			return QV_ME_MEMORY;
		after = r->pa + r->count * QV_HUGE;
	}
	return QV_ME_OK;
}

static u64 tables(const struct qv_mon_create *q)
{
	return request_pages(q) / 512;		/* a page directory per GiB */
}

static u64 prepare(struct pcpu *cpu, const struct instance *inst, const struct qv_mon_create *q)
{
	u32 i;

	for (i = 0; i < q->num_runs; i++)
		if (front_prepare(&inst->nested, q->runs[i].pa, q->runs[i].count * QV_HUGE))
			return QV_ME_TABLES;
	return QV_ME_OK;
}

static u64 map(struct pcpu *cpu, const struct instance *inst, const struct qv_mon_create *q)
{
	struct paging *n = &managed()->nested;
	u64 gpa = 0, first = q->runs[0].pa, w = q->console_pa;
	u64 shared = nested_bits(n, NESTED_R | NESTED_W | NESTED_WB);
	int bad = 0;
	u32 i;

	for (i = 0; i < q->num_runs; i++) {
		bad |= paging_map(n, gpa, q->runs[i].pa, q->runs[i].count * QV_HUGE,
				  nested_bits(n, (i < q->num_runs - q->rom_runs ? NESTED_RWX :
						  NESTED_RX) | NESTED_WB));
		gpa += q->runs[i].count * QV_HUGE;
	}
	bad |= paging_map(n, QV_SCREEN_GPA, w, QV_PAGE, shared);
	bad |= paging_map(n, QV_INFO_GPA, first + QV_INFO_GPA, QV_PAGE,
			  nested_bits(n, NESTED_R | NESTED_WB));
	/* the comm page and the latency page */
	bad |= paging_map(n, QV_COMM_GPA, w + 2 * QV_PAGE, 2 * QV_PAGE, shared);
	bad |= paging_map(n, QV_STREAM_GPA, w + 4 * QV_PAGE, 4 * QV_PAGE, shared);
	return bad ? QV_ME_TABLES : QV_ME_OK;
}

static u64 still_ours(struct pcpu *cpu, const struct instance *inst, const struct qv_mon_create *q)
{
	u32 i;

	for (i = 0; i < q->num_runs; i++)
		if (!run_ok(inst, &q->runs[i]))
			return QV_ME_MEMORY;
	return QV_ME_OK;
}

static void take(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	u32 i;
	u64 k;

	for (i = 0; i < q->num_runs; i++)
		for (k = 0; k < q->runs[i].count; k++)
			linux_memory(q->runs[i].pa + k * QV_HUGE, QV_HUGE,
				     slot->taken ? LINUX_NONE : LINUX_ALL);
}

static u64 nth_page(const struct qv_mon_create *q, u64 n)
{
	u32 i;

	for (i = 0; n >= q->runs[i].count; i++)
		n -= q->runs[i].count;
	return q->runs[i].pa + n * QV_HUGE;
}

static bool clear(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	u64 pa;

	if (slot->reclaimed >= request_pages(q))
		return false;
	pa = nth_page(q, slot->reclaimed++);
	if (!q->debug)
		scrub(pa);
	linux_memory(pa, QV_HUGE, LINUX_ALL);
	return true;
}

const struct part part_memory = {
	.try[PART_CHECK] = check,
	.try[PART_PREPARE] = prepare,
	.try[PART_MAP] = map,
	.try[PART_STILL_OURS] = still_ours,
	.act[PART_TAKE] = take,
	.act[PART_UNTAKE] = take,
	.tables = tables,
	.clear = clear,
};
