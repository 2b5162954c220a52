// SPDX-License-Identifier: GPL-2.0-only
#include "core/cpu.h"
#include "mapping.h"

void mapping_set(u64 va, u64 pa)
{
	me()->directory[(va >> 21) & 511] = pa ? pa | PT_P | PT_W | PT_PS | PT_NX : 0;
	invlpg(va);
}

void scrub(u64 pa)
{
	mapping_set(QV_VA_SCRUB, pa);
	memset((void *)QV_VA_SCRUB, 0, QV_HUGE);
	mapping_set(QV_VA_SCRUB, 0);
}

struct paging cell_paging(const struct paging *of, struct pt_pool *pool)
{
	struct paging p = *of;

	*pool = managed()->pt_pool;
	pool->va = QV_VA_MANAGE;
	p.pt_pool = pool;
	return p;
}
