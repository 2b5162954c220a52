// SPDX-License-Identifier: GPL-2.0-only
/* Makes the tables of the IOMMU before the monitor runs. Pure: the host tests run this code. */
#include "cross/iommu_tables.h"
#include "iommu/amdvi.h"
#include "iommu/iommu.h"
#include "iommu/irte.h"
#include "iommu/vtd.h"
#include "tables/nested.h"

#define PT_USED		(3ull << 5)	/* accessed and written */
#define IRT_LEN_MAX	(16384 * IRTE_LEN)
#define IRT_LEN_MIN	(2 * QV_MON_IRTES * IRTE_LEN)
#define DIRECTORY_LEN	(4 * QV_PAGE)	/* CONTEXT_PASIDS; half of it serves 65,536 functions */

struct range {
	u64 start, end;
};

/* @next becomes the range if that ends above @pa and starts lower */
static void take_lower(struct range *next, u64 pa, u64 start, u64 end)
{
	if (end > pa && start < next->start)
		*next = (struct range){ start, end };
}

/*
 * Returns the lowest hole of those that end above @pa, or one at @top. The registers of the units
 * are holes, too: no device may program a unit.
 */
static struct range next_hole(const struct qv_mon_iommus *iommus, u64 pa, u64 top)
{
	struct range next = { top, top };
	u32 i;

	for (i = 0; i < iommus->num_dma_holes && i < QV_MON_IO_HOLES; i++)
		take_lower(&next, pa, iommus->dma_holes[i].start, iommus->dma_holes[i].end);
	for (i = 0; i < iommus->num && i < QV_MON_IOMMUS; i++)
		take_lower(&next, pa, iommus->units[i].pa,
			   iommus->units[i].pa + iommus->units[i].len);
	return next;
}

static u64 top_of(const struct qv_mon_boot *b)
{
	u64 top = 1ull << 32;
	u32 i;

	for (i = 0; i < b->num_ram && i < QV_MON_RAM_RANGES; i++)
		if (b->ram[i].end > top)
			top = b->ram[i].end;
	return top;
}

static int map_all(const struct paging *io, const struct qv_mon_boot *b, u64 open)
{
	u64 pa = 0, top = top_of(b);
	struct range hole;

	while (pa < top) {
		hole = next_hole(&b->iommus, pa, top);
		if (hole.start > pa && paging_map(io, pa, pa, hole.start - pa, open))
			return -1;
		pa = hole.end;
	}
	return 0;
}

/* Pages that follow each other. Nothing else takes pages while the driver builds the tables */
static u64 take_pages(struct pt_pool *pool, u64 len)
{
	u64 first = pt_take(pool), last = first;

	while (last && last + QV_PAGE < first + len)
		last = pt_take(pool);
	return last ? first : 0;
}

/* All buses share one table of contexts, all functions one table */
static int make_roots(struct instance *inst)
{
	u64 contexts = pt_take(&inst->pt_pool), *root, *context, target = inst->iommu.table.root;
	u32 stage = inst->boot.iommus.stage, i;

	inst->iommu.contexts = contexts;
	inst->iommu.root = pt_take(&inst->pt_pool);
	if (stage)
		target = iommu_pasids(&inst->pt_pool, stage, target, inst->boot.iommus.domain);
	if (!inst->iommu.root || !target)
		return -1;
	root = pt_table(&inst->pt_pool, inst->iommu.root);
	context = pt_table(&inst->pt_pool, contexts);
	/* In scalable mode each half of a bus has a word, and contexts have four words */
	for (i = 0; i < PT_ENTRIES; i += stage ? 1 : 2)
		root[i] = contexts | CONTEXT_PRESENT;
	for (i = 0; i < PT_ENTRIES; i += stage ? 4 : 2) {
		context[i] = target | CONTEXT_PRESENT;
		context[i + 1] = stage ? 0 : CONTEXT_LEVELS4 |
				 CONTEXT_DOMAIN(inst->boot.iommus.domain);
	}
	if (!inst->boot.iommus.nested)
		return 0;
	inst->iommu.pasids = take_pages(&inst->pt_pool, DIRECTORY_LEN);
	return inst->iommu.pasids ? 0 : -1;
}

/* Each access of Linux to the registers exits */
static int hide_registers(struct instance *inst)
{
	const struct qv_mon_iommus *units = &inst->boot.iommus;
	u32 i;

	for (i = 0; i < units->num && i < QV_MON_IOMMUS; i++) {
		if (front_prepare(&inst->nested, units->units[i].pa, units->units[i].len))
			return -1;
		front_set(&inst->nested, units->units[i].pa, units->units[i].len, LINUX_NONE);
	}
	return 0;
}

/* AMD-Vi: all devices reach nothing, and their interrupts are blocked, until Linux is followed */
static int make_devices(struct instance *inst)
{
	const struct qv_mon_iommus *units = &inst->boot.iommus;
	u64 *entry;
	u32 i;

	inst->iommu.devices = units->device_pages * QV_PAGE / DTE_LEN;
	inst->iommu.root = take_pages(&inst->pt_pool, units->device_pages * QV_PAGE);
	inst->iommu.irts = take_pages(&inst->pt_pool, units->num_irts * 2 * QV_PAGE);
	inst->iommu.ids = pt_take(&inst->pt_pool);
	if (!inst->iommu.root || !inst->iommu.irts || !inst->iommu.ids)
		return -1;
	entry = pt_table(&inst->pt_pool, inst->iommu.root);
	for (i = 0; i < inst->iommu.devices; i++, entry += DTE_LEN / 8) {
		entry[0] = inst->iommu.table.root | DTE_VALID | DTE_LEVELS4;
		entry[1] = units->domain;
		entry[2] = DTE_REMAP;
	}
	return 0;
}

/* Bytes of each unit's table of interrupts. If there are many units, cells have few entries */
static u64 irt_len(const struct qv_mon_iommus *units)
{
	u64 len = units->amd ? QV_PAGE : IRT_LEN_MAX;	/* AMD-Vi: one page for the log of events */

	while (len > IRT_LEN_MIN && len * units->num > IRT_LEN_MAX)
		len /= 2;
	return len;
}

bool iommu_fits(const struct instance *inst)
{
	const struct qv_mon_boot *b = &inst->boot;
	/* five tables of their own; for each GiB, and for each 512 GiB; where holes split pages */
	u64 pages = 5 + (top_of(b) >> 30) + 1 + (top_of(b) >> 39) + 1 + 2 * b->iommus.num_dma_holes;

	/* the same for a unit's registers, twice as many of Linux's tables; queue, root, entries */
	pages += b->iommus.num * (2 + 4 + 2 + irt_len(&b->iommus) / QV_PAGE);
	pages += b->iommus.device_pages + 2 * b->iommus.num_irts + b->iommus.amd;
	pages += b->iommus.nested ? DIRECTORY_LEN / QV_PAGE + b->iommus.nested : 0;
	return inst->pt_pool.next + pages * QV_PAGE <= inst->pt_pool.end;
}

int iommu_tables(struct instance *inst)
{
	struct paging *io = &inst->iommu.table;
	const struct qv_mon_boot *b = &inst->boot;
	u32 i;

	if (!b->iommus.num)
		return 0;
	/* 0, those from 2 on that fill tables, and the last: .take() of struct iommu_ops */
	inst->iommu.steps = 3 + (b->iommus.amd ? AMDVI_PIECES * b->iommus.num_ids : VTD_PIECES);
	inst->iommu.remaps = true;
	io->pt_pool = &inst->pt_pool;
	io->levels = 4;
	io->max_leaf = 2;
	io->amdvi = b->iommus.amd;
	/* 1ull << 60: accesses see the caches. First stage: no access changes the entry */
	inst->iommu.open = PT_P | (b->iommus.amd ? DTE_OPEN | 1ull << 60 : PT_W) |
			   (b->iommus.stage == 1 ? PT_U | PT_USED : 0);
	io->root = pt_take(io->pt_pool);
	if (!io->root || map_all(io, b, inst->iommu.open) || hide_registers(inst) ||
	    (b->iommus.amd ? make_devices(inst) : make_roots(inst)))
		return -1;
	/* AMD-Vi: functions of cells have tables of their own, so there is always room */
	inst->iommu.irtes = b->iommus.amd ? 1u << 20 : irt_len(&b->iommus) / IRTE_LEN;
	for (i = 0; i < b->iommus.num && i < QV_MON_IOMMUS; i++) {
		inst->iommu.units[i].pa = b->iommus.units[i].pa;
		inst->iommu.units[i].len = b->iommus.units[i].len;
		inst->iommu.units[i].queue = pt_take(io->pt_pool);
		inst->iommu.units[i].translated = b->iommus.translated >> i & 1;
		inst->iommu.units[i].root = inst->iommu.units[i].translated &&
					    !b->iommus.amd ? pt_take(io->pt_pool) :
					    inst->iommu.root;
		inst->iommu.units[i].irt = take_pages(io->pt_pool, irt_len(&b->iommus));
		if (!inst->iommu.units[i].queue || !inst->iommu.units[i].irt ||
		    !inst->iommu.units[i].root)
			return -1;
	}
	iommu_follow(inst, b->block_pa, b->block_len, false);
	return 0;
}
