// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks a request to create a cell. The check looks at the request and at the front end's tables,
 * and changes neither. The manager carries out a request without a further check, once it is
 * accepted and prepared.
 */
#include "request.h"
#include "part.h"

/* Checks that no interrupt for a logical id of another CPU of Linux reaches @cpus in x2APIC mode */
static u64 check_apic(const struct instance *inst, u64 cpus)
{
	const struct icr_map *map = &inst->icr;
	u32 i, ids = 0;

	if (!inst->req.x2apic || inst->boot.x2apic)
		return QV_ME_OK;
	for (i = 0; i < map->num; i++)
		if (cpus >> i & 1)
			ids |= icr_x2_id(map->apic_id[i]);
	for (i = 0; i < map->num; i++)
		if (!(cpus >> i & 1) && (map->ldr[i] & ids))
			return QV_ME_X2APIC;
	return inst->boot.offers_x2apic && !map->cluster ? QV_ME_OK : QV_ME_X2APIC;
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
	if (seen & (~inst->icr.own_cpus | 1ull << caller))
		return QV_ME_CPU_TAKEN;
	return check_apic(inst, seen);
}

static u64 check_entry(const struct instance *inst)
{
	const struct qv_mon_create *q = &inst->req;
	u64 len = request_pages(q) * QV_HUGE;

	if (!q->bell_rate || q->bell_rate > QV_BELL_RATE_MAX || q->x2apic > 1 ||
	    q->standby > (q->num_dynamic ? 0 : QV_STANDBY_MAX) || q->rom_runs >= q->num_runs)
		return QV_ME_ENTRY;
	if (q->doorbell_vector && (q->doorbell_vector < 32 || q->doorbell_vector > 255))
		return QV_ME_ENTRY;
	return q->entry.eip >= len || q->entry.ebx >= len ? QV_ME_ENTRY : QV_ME_OK;
}

/* The tables of all parts and a few more must fit next to the CPUs' areas */
static u64 check_tables(const struct instance *inst)
{
	const struct qv_mon_create *q = &inst->req;

	return QV_OFF_CPUS + q->num_cpus * QV_CPU_LEN + (parts_tables(q) + 32) * QV_PAGE >
	       QV_BLOCK_CELL ? QV_ME_TABLES : QV_ME_OK;
}

u64 request_check(const struct instance *inst, u32 caller)
{
	return check_cpus(inst, caller) ?:
	       !request_takable(inst, inst->req.block_pa, QV_BLOCK_CELL) ? QV_ME_BLOCK :
	       parts_try(PART_CHECK, pcpu_of(caller), inst, &inst->req) ?: check_entry(inst) ?:
	       check_tables(inst);
}

u64 request_prepare(const struct instance *inst, u32 caller)
{
	if (front_prepare(&inst->nested, inst->req.block_pa, QV_BLOCK_CELL))
		return QV_ME_TABLES;
	return parts_try(PART_PREPARE, pcpu_of(caller), inst, &inst->req);
}
