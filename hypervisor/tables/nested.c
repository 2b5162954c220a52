// SPDX-License-Identifier: GPL-2.0-only
#include "tables/nested.h"

/* Returns the entry for a page at @pa that Linux owns. @pa is the start of the page */
static u64 own_page(const struct paging *p, u64 pa, u32 level)
{
	u64 what = p->ram && ecam_has(p->ram, pa) ? NESTED_RX : NESTED_RWX;

	if (p->ram && ram_has(p->ram, pa, 1, true))
		what |= NESTED_WB;
	return pa | nested_bits(p, what) | (level > 1 ? PT_PS : 0);
}

enum front_owner front_owner(const struct paging *p, u64 pa, u32 level)
{
	u32 found;
	u64 e = *paging_find(p, pa, level, &found);

	if (!(e & PT_P))
		return e & NESTED_HOLE ? FRONT_HOLE : FRONT_OWNS;
	if (found > 1 && !(e & PT_PS))
		return FRONT_SPECIAL;		/* a table is there: part of the page is special */
	if ((e ^ own_page(p, pa & ~(level_size(found) - 1), found)) &
	    (PT_TABLE | PT_ADDR | NESTED_SHARED))
		return FRONT_SPECIAL;
	return FRONT_OWNS;
}

int front_prepare(const struct paging *p, u64 pa, u64 len)
{
	u32 level;

	FOR_EACH_PIECE(pa, len, level) {
		/* the neighbours of the page stay mapped when it is split off */
		front_fill(p, pa);
		if (!paging_entry(p, pa, level))
			return -1;
	}
	return 0;
}

/* Does not change an entry of a higher level, since that would reach beyond the range */
static void set_entry(const struct paging *p, u64 pa, u32 level, u64 value)
{
	u32 found;
	u64 *entry = paging_find(p, pa, level, &found);

	if (found == level)
		__atomic_store_n(entry, value, __ATOMIC_RELEASE);
}

void front_set(const struct paging *p, u64 pa, u64 len, enum linux_access access)
{
	u32 level;

	FOR_EACH_PIECE(pa, len, level)
		set_entry(p, pa, level, access == LINUX_NONE ? NESTED_HOLE :
			  (own_page(p, pa, level) & ~(access == LINUX_READ ? PT_W : 0)) |
			  (access == LINUX_SHARE ? NESTED_SHARED : 0));
}

void front_split(const struct paging *p, u64 pa, u64 table)
{
	u64 *entries = pt_table(p->pt_pool, table);
	u32 i;

	for (i = 0; i < PT_ENTRIES; i++)
		entries[i] = NESTED_HOLE;
	set_entry(p, pa, 2, table | PT_TABLE);
}

/* Returns true if [@start, @end) is partly inside [@from, @to), partly outside */
static bool crosses(u64 start, u64 end, u64 from, u64 to)
{
	return from < end && to > start && (start < from || end > to);
}

/*
 * Returns the level of the largest page around @pa with memory of one kind only. A page with RAM
 * and devices has two types in the MTRRs, so its type is undefined (APM vol. 2, 7.7.4); an EPT
 * entry has one type for both. If part of a page is config space, its entry would allow writes to
 * both parts or to neither. Below 1 MiB each 4 KiB may be of another kind.
 */
static u32 uniform_level(const struct paging *p, u64 pa)
{
	u32 level, i;

	for (level = p->max_leaf; p->ram && level > 1; level--) {
		u64 start = pa & ~(level_size(level) - 1), end = start + level_size(level);

		if (p->ram->ecam_len &&
		    crosses(start, end, p->ram->ecam_pa, p->ram->ecam_pa + p->ram->ecam_len))
			continue;
		for (i = 0; i < p->ram->num_ram && i < QV_MON_RAM_RANGES; i++)
			if (crosses(start, end, p->ram->ram[i].start, p->ram->ram[i].end))
				break;
		if (start >= 1u << 20 && (i == p->ram->num_ram || i == QV_MON_RAM_RANGES))
			break;
	}
	return level;
}

bool front_reaches(const struct paging *p, u64 pa)
{
	return pa < level_size(p->levels + 1) && !(p->ram && pa >> p->ram->phys_bits);
}

int front_fill(const struct paging *p, u64 pa)
{
	u32 level, limit = uniform_level(p, pa);
	u64 *entry = paging_find(p, pa, 1, &level);
	u64 old = *entry;

	if (!front_reaches(p, pa))
		return -1;
	if (level > limit && !(old & (PT_P | NESTED_HOLE))) {
		level = limit;
		entry = paging_entry(p, pa, level);
		if (!entry)
			return -1;
		old = *entry;
	}
	if (old & (PT_P | NESTED_HOLE))
		return old & PT_P ? 0 : -1;
	entry_exchange(entry, old, own_page(p, pa & ~(level_size(level) - 1), level));
	return 0;
}
