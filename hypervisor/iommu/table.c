// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of all devices. Entries of VT-d's second level are those of EPT without a memory type:
 * bits 0 and 1 permit reads and writes, bit 7 marks a page of 2 MiB (VT-d 3.3, 9.8). A unit may
 * read tables past the caches, so each entry that changes is written back. After enable only
 * entries of 2 MiB change, by one store each.
 */
#include "iommu/iommu.h"
#include "iommu/vtd.h"
#include "tables/nested.h"

void iommu_follow(struct instance *inst, u64 pa, u64 len, bool all)
{
	const struct qv_mon_boot *b = &inst->boot;
	u64 at = pa & ~(QV_HUGE - 1ull), end = pa + len;
	struct paging io = inst->iommu.table;
	u32 level;

	io.pt_pool = &inst->pt_pool;
	for (; b->iommus.num && at < end; at += QV_HUGE) {
		u64 *entry = paging_find(&io, at, 2, &level);
		bool inside = at >= pa && end - at >= QV_HUGE;

		/* registers of devices are never mapped, and a page with both never opens again */
		if (level != 2 || !ram_has(b, at, QV_HUGE, all) || (all && !inside))
			continue;
		table_store(entry, all ? at | inst->iommu.open | PT_PS : 0);
	}
}

u64 iommu_pasids(struct pt_pool *pool, u32 stage, u64 root, u32 domain)
{
	u64 directory = pt_take(pool), table = pt_take(pool), *entry;

	if (!table)
		return 0;
	*pt_table(pool, directory) = table | CONTEXT_PRESENT;
	entry = pt_table(pool, table);
	entry[0] = PASID_STAGE(stage) | PASID_LEVELS4 | (stage == 2 ? root : 0);
	entry[1] = domain;
	entry[2] = stage == 2 ? 0 : root;
	return directory;
}
