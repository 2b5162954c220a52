// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is a request to create a cell sound? Pure: looks at the request and at the front end's tables,
 * and changes neither (except for splitting large pages, which changes no permission). The manager
 * carries out an accepted request without a further check.
 */
#include "abi/errors.h"
#include "request.h"
#include "tables/nested.h"

#define WINDOW_LEN	(8 * QV_PAGE)
/* pages of tables at most: config space, and both ends of six BARs */
#define TABLES_OF_DEVICE 36

static bool in_ram(const struct qv_mon_boot *b, u64 pa, u64 len)
{
	u32 i;

	for (i = 0; i < b->num_ram && i < QV_MON_RAM_RANGES; i++)
		if (pa >= b->ram[i].start && pa < b->ram[i].end && len <= b->ram[i].end - pa)
			return true;
	return false;
}

bool request_pages_ok(const struct instance *inst, u64 pa, u64 len, u32 level)
{
	u64 size = level_size(level);

	if ((pa | len) & (size - 1) || !in_ram(&inst->boot, pa, len))
		return false;
	for (; len; pa += size, len -= size)
		if (front_owner(&inst->nested, pa, level) != FRONT_OWNS)
			return false;
	return true;
}

static u64 check_cpus(const struct instance *inst, u32 caller)
{
	const struct qv_mon_create *q = &inst->req;
	u64 seen = 0;
	u32 i;

	if (!q->num_cpus || q->num_cpus > QV_MAX_CPUS)
		return QV_ME_CPUS;
	for (i = 0; i < q->num_cpus; i++) {
		if (q->cpus[i] >= inst->boot.num_cpus || (seen & 1ull << q->cpus[i]))
			return QV_ME_CPUS;
		seen |= 1ull << q->cpus[i];
	}
	if ((seen & ~inst->icr.own) || (seen & 1ull << caller))
		return QV_ME_CPU_TAKEN;
	return QV_ME_OK;
}

static bool overlaps(u64 a, u64 a_len, u64 b, u64 b_len)
{
	return a < b + b_len && b < a + a_len;
}

/* No page may be one cell's memory and another's console window */
static bool touches_window(const struct instance *inst, u64 pa, u64 len)
{
	u32 i;

	for (i = 1; i < QV_INSTANCES; i++)
		if (inst->cells[i].state && overlaps(pa, len, inst->cells[i].window_pa, WINDOW_LEN))
			return true;
	return false;
}

bool request_run_ok(const struct instance *inst, const struct qv_mon_run *r)
{
	return r->count && r->count < 1ull << 31 &&
	       request_pages_ok(inst, r->pa, r->count * QV_HUGE, 2) &&
	       !touches_window(inst, r->pa, r->count * QV_HUGE);
}

static u64 check_memory(const struct instance *inst)
{
	const struct qv_mon_create *q = &inst->req;
	u64 after = 0;
	u32 i;

	if (!request_pages_ok(inst, q->block_pa, QV_BLOCK_CELL, 2) ||
	    touches_window(inst, q->block_pa, QV_BLOCK_CELL))
		return QV_ME_BLOCK;
	if (!request_pages_ok(inst, q->window_pa, WINDOW_LEN, 1) ||
	    touches_window(inst, q->window_pa, WINDOW_LEN) ||
	    overlaps(q->window_pa, WINDOW_LEN, q->block_pa, QV_BLOCK_CELL))
		return QV_ME_WINDOW;
	if (!q->num_runs || q->num_runs > QV_MON_RUNS)
		return QV_ME_MEMORY;
	for (i = 0; i < q->num_runs; i++) {
		const struct qv_mon_run *r = &q->runs[i];

		/* ascending: so nothing can be there twice */
		if (r->pa < after || !request_run_ok(inst, r) ||
		    overlaps(r->pa, r->count * QV_HUGE, q->block_pa, QV_BLOCK_CELL) ||
		    overlaps(r->pa, r->count * QV_HUGE, q->window_pa, WINDOW_LEN))
			return QV_ME_MEMORY;
		after = r->pa + r->count * QV_HUGE;
	}
	return QV_ME_OK;
}

static u64 check_rest(const struct instance *inst)
{
	const struct qv_mon_create *q = &inst->req;
	u64 pages = request_pages(q);
	u32 i;

	if (q->num_ports > QV_MAX_PORTS)
		return QV_ME_PORTS;
	for (i = 0; i < q->num_ports; i++)
		if (q->ports[i].last < q->ports[i].first)
			return QV_ME_PORTS;
	for (i = 0; i < q->num_ports; i++)
		if (ports_never(&inst->boot, q->ports[i].first, q->ports[i].last))
			return QV_ME_PORT_NEVER;
	for (i = 0; i < q->num_ports; i++)
		if (ports_claimed(inst, q->ports[i].first, q->ports[i].last))
			return QV_ME_PORT_TAKEN;
	if (!q->bell_rate || q->bell_rate > QV_BELL_RATE_MAX)
		return QV_ME_ENTRY;
	if (q->doorbell_vector && (q->doorbell_vector < 32 || q->doorbell_vector > 255))
		return QV_ME_ENTRY;
	if (q->entry.eip >= pages * QV_HUGE || q->entry.ebx >= pages * QV_HUGE)
		return QV_ME_ENTRY;
	/* A page directory per GiB and a few more must fit next to the CPUs' areas */
	if (QV_OFF_CPUS + q->num_cpus * QV_CPU_LEN + (pages / 512 + 32 + q->num_devices * TABLES_OF_DEVICE) * (u64)QV_PAGE > QV_BLOCK_CELL)
		return QV_ME_TABLES;
	return QV_ME_OK;
}

/* Effects that can run out of pages, but that no guest can notice */
static u64 prepare(const struct instance *inst)
{
	const struct qv_mon_create *q = &inst->req;
	u32 i;

	if (front_prepare(&inst->nested, q->block_pa, QV_BLOCK_CELL))
		return QV_ME_TABLES;
	for (i = 0; i < q->num_runs; i++)
		if (front_prepare(&inst->nested, q->runs[i].pa, q->runs[i].count * QV_HUGE))
			return QV_ME_TABLES;
	return pci_prepare(inst);
}

u64 request_check(const struct instance *inst, u32 caller)
{
	u64 error = check_cpus(inst, caller);

	if (!error)
		error = check_memory(inst);
	if (!error)
		error = pci_check(inst, caller);
	if (!error)
		error = check_rest(inst);
	if (!error)
		error = prepare(inst);
	return error;
}
