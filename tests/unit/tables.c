// SPDX-License-Identifier: GPL-2.0-only
#include "fake.h"
#include "tables.h"
#include "unit.h"

#define ADDRESS	0x000ffffffffff000ull

static const u64 *table_at(u64 pa)
{
	if (pa % 4096 || pa + 4096 > FAKE_RAM)
		unit_give_up("a table that is not in RAM");
	return (const u64 *)(fake_ram + pa);
}

static bool is_leaf(u64 entry, u32 level)
{
	return level == 1 || (level <= 3 && (entry >> 7 & 1));
}

static struct leaf leaf_of(u64 entry, u32 level)
{
	return (struct leaf){
		.present = true, .write = entry >> 1 & 1, .execute = !(entry >> 63),
		.pa = entry & ADDRESS & -(1ull << (12 + 9 * (level - 1))),
	};
}

struct leaf tables_walk(u64 root, u32 levels, u64 addr)
{
	u64 table = root;
	u32 at;

	for (at = levels; ; at--) {
		u32 shift = 12 + 9 * (at - 1);
		u64 e = table_at(table)[addr >> shift & 511];

		if (!(e & 1))
			return (struct leaf){ 0 };
		if (is_leaf(e, at)) {
			struct leaf l = leaf_of(e, at);

			l.pa += addr & ((1ull << shift) - 1);
			return l;
		}
		table = e & ADDRESS;
	}
}

void tables_each(u64 root, u32 levels, void (*each)(void *ctx, u64 addr, u64 len, const struct leaf *l),
		 void *ctx)
{
	static u64 base[6];		/* address where the table of that level begins */
	const u64 *table = table_at(root);
	u32 shift = 12 + 9 * (levels - 1), i;

	for (i = 0; i < 512; i++) {
		u64 addr = base[levels] + ((u64)i << shift);
		struct leaf l;

		if (!(table[i] & 1))
			continue;
		if (is_leaf(table[i], levels)) {
			l = leaf_of(table[i], levels);
			each(ctx, addr, 1ull << shift, &l);
			continue;
		}
		base[levels - 1] = addr;
		tables_each(table[i] & ADDRESS, levels - 1, each, ctx);
	}
}

bool tables_inside(u64 root, u32 levels, u64 start, u64 len)
{
	const u64 *table = table_at(root);
	u32 i;

	if (root < start || root - start > len - 4096)
		return false;
	for (i = 0; levels > 1 && i < 512; i++)
		if ((table[i] & 1) && !is_leaf(table[i], levels) &&
		    !tables_inside(table[i] & ADDRESS, levels - 1, start, len))
			return false;
	return true;
}
