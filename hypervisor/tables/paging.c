// SPDX-License-Identifier: GPL-2.0-only
#include "tables/paging.h"

u64 *pt_table(const struct pt_pool *pool, u64 pa)
{
	return (u64 *)(size_t)(pool->va + (pa - pool->pa));
}

u64 pt_take(struct pt_pool *pool)
{
	u32 off = __atomic_fetch_add(&pool->next, 4096, __ATOMIC_RELAXED), i;
	u64 *page;

	/* Keep the counter at the end: it would wrap only after an unrealistic number of tries */
	if (off >= pool->end) {
		__atomic_store_n(&pool->next, pool->end, __ATOMIC_RELAXED);
		return 0;
	}
	page = pt_table(pool, pool->pa + off);
	for (i = 0; i < PT_ENTRIES; i++)
		page[i] = 0;
	return pool->pa + off;
}

static u32 slot(u64 addr, u32 level)
{
	return (addr >> (12 + PT_BITS * (level - 1))) & (PT_ENTRIES - 1);
}

static bool is_leaf(u64 entry, u32 level)
{
	return level == 1 || (entry & PT_PS);
}

u64 *paging_find(const struct paging *p, u64 addr, u32 level, u32 *found)
{
	u64 *table = pt_table(p->pt_pool, p->root);
	u32 at = p->levels;

	for (;; at--) {
		u64 *entry = &table[slot(addr, at)];
		/* read the entry once: other CPUs change it */
		u64 seen = __atomic_load_n(entry, __ATOMIC_ACQUIRE);

		if (at == level || !(seen & PT_P) || is_leaf(seen, at)) {
			*found = at;
			return entry;
		}
		table = pt_table(p->pt_pool, seen & PT_ADDR);
	}
}

/*
 * Puts a table below @entry. 512 smaller leaves with the same effect replace a leaf there, so
 * hardware that walks the tables meanwhile sees no difference. Two CPUs may come here at once: the
 * slower one finds the work done.
 */
static int deepen(const struct paging *p, u64 *entry, u32 level)
{
	u64 old = __atomic_load_n(entry, __ATOMIC_ACQUIRE), pa, *table;
	u32 i;

	/* another CPU has changed it: there is no leaf to split */
	if ((old & PT_P) && !is_leaf(old, level))
		return 0;
	pa = pt_take(p->pt_pool);
	if (!pa)
		return -1;
	if (old & PT_P) {
		u64 leaf = level == 2 ? old & ~PT_PS : old;

		table = pt_table(p->pt_pool, pa);
		for (i = 0; i < PT_ENTRIES; i++)
			table[i] = leaf + i * level_size(level - 1);
	}
	entry_exchange(entry, old, pa | PT_TABLE | (p->amdvi ? PT_AMDVI(level) : 0));
	return 0;
}

u64 *paging_entry(const struct paging *p, u64 addr, u32 level)
{
	for (;;) {
		u32 found;
		u64 *entry = paging_find(p, addr, level, &found);

		if (found == level)
			return entry;
		if (deepen(p, entry, found))
			return NULL;
	}
}

int paging_map(const struct paging *p, u64 addr, u64 pa, u64 len, u64 flags)
{
	while (len) {
		u32 level = p->max_leaf;
		u64 *entry;

		while (level > 1 && (((addr | pa) & (level_size(level) - 1)) ||
				     len < level_size(level)))
			level--;
		entry = paging_entry(p, addr, level);
		if (!entry)
			return -1;
		*entry = pa | flags | (level > 1 ? PT_PS : 0);
		addr += level_size(level);
		pa += level_size(level);
		len -= level_size(level);
	}
	return 0;
}
