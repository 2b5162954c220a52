// SPDX-License-Identifier: GPL-2.0-only
#include "fake.h"
#include "tables.h"
#include "unit.h"

#define ADDRESS	0x000ffffffffff000ull

static const u64 *table_at(u64 pa)
{
	if (pa % 4096 || pa + 4096 > FAKE_RAM)
		unit_give_up("a table outside RAM");
	return (const u64 *)(fake_ram + pa);
}

static bool is_leaf(u64 entry, u32 level)
{
	return level == 1 || (level <= 3 && (entry >> 7 & 1));
}

/*
 * SDM vol. 3, tables 29-1 to 29-7: misconfigurations, and encodings that QV does not use. QV uses
 * bit 53, which the processor ignores, of pages of 4 KiB
 */
static void check_ept(u64 entry, u32 level)
{
	u32 type = entry >> 3 & 7;

	if (!(entry & 1))
		CHECK_EQ(entry & 6, 0);
	else if (is_leaf(entry, level))
		CHECK((type == LEAF_WB || type == LEAF_UC) && !(entry & 1 << 6) &&
		      !(entry >> 52 & (level == 1 ? ~2ull : ~0ull)));
	else
		CHECK_EQ(entry & 0xfff0000000000fffull, 7);
}

static struct leaf leaf_of(const struct paging *p, u64 entry, u32 level)
{
	return (struct leaf){
		.present = true, .write = entry >> 1 & 1,
		.execute = p->ept ? entry >> 2 & 1 : !(entry >> 63),
		.type = p->ept ? entry >> 3 & 7 : LEAF_AS_MTRRS,
		.pa = entry & ADDRESS & -(1ull << (12 + 9 * (level - 1))),
	};
}

struct leaf tables_walk(const struct paging *p, u64 addr)
{
	u64 table = p->root;
	u32 at;

	for (at = p->levels; ; at--) {
		u32 shift = 12 + 9 * (at - 1);
		u64 e = table_at(table)[addr >> shift & 511];

		if (p->ept)
			check_ept(e, at);
		if (!(e & 1))
			return (struct leaf){ 0 };
		if (is_leaf(e, at)) {
			struct leaf l = leaf_of(p, e, at);

			l.pa += addr & ((1ull << shift) - 1);
			return l;
		}
		table = e & ADDRESS;
	}
}

struct each {
	const struct paging *p;
	void (*each)(void *ctx, u64 addr, u64 len, const struct leaf *l);
	void *ctx;
};

static void each_below(const struct each *e, u64 root, u64 base, u32 level)
{
	const u64 *table = table_at(root);
	u32 shift = 12 + 9 * (level - 1), i;

	for (i = 0; i < 512; i++) {
		u64 addr = base + ((u64)i << shift);
		struct leaf l;

		if (e->p->ept && table[i])
			check_ept(table[i], level);
		if (!(table[i] & 1))
			continue;
		if (is_leaf(table[i], level)) {
			l = leaf_of(e->p, table[i], level);
			e->each(e->ctx, addr, 1ull << shift, &l);
		} else {
			each_below(e, table[i] & ADDRESS, addr, level - 1);
		}
	}
}

void tables_each(const struct paging *p,
		 void (*each)(void *ctx, u64 addr, u64 len, const struct leaf *l), void *ctx)
{
	const struct each e = { p, each, ctx };

	each_below(&e, p->root, 0, p->levels);
}

static bool inside(u64 root, u32 levels, u64 start, u64 len)
{
	const u64 *table = table_at(root);
	u32 i;

	if (root < start || root - start > len - 4096)
		return false;
	for (i = 0; levels > 1 && i < 512; i++)
		if ((table[i] & 1) && !is_leaf(table[i], levels) &&
		    !inside(table[i] & ADDRESS, levels - 1, start, len))
			return false;
	return true;
}

bool tables_inside(const struct paging *p, u64 start, u64 len)
{
	return inside(p->root, p->levels, start, len);
}
