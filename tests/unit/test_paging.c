// SPDX-License-Identifier: GPL-2.0-only
/* paging.c: largest pages, splitting, finding, an exhausted pool. */
#include <stdlib.h>
#include <string.h>
#include "space.h"
#include "unit.h"

#define K4	0x1000ull
#define M2	0x200000ull
#define G1	0x40000000ull

static void check_at(const struct space *s, u64 addr, u64 pa, u64 flags)
{
	u64 got_flags = 0, got;
	u32 level;

	got = space_walk(s, addr, &got_flags, &level);
	if (!CHECK_EQ(got, pa))
		unit_give_up("a wrong translation");
	if (pa != NOT_MAPPED)
		CHECK_EQ(got_flags, flags);
}

/*
 * Maps each row into empty tables. Checks which leaf sizes are used and how many tables are needed
 */
static void largest_pages(void)
{
	static const struct {
		u64 addr, pa, len;
		u32 max_leaf;
		u32 tables;		/* number of tables below the level of a 512 GiB entry */
		struct { u64 at; u32 level; } leaf[3];
	} rows[] = {
		{ 0, 0, G1, 3, 0, { { 0, 3 }, { G1 - 1, 3 }, { G1 / 2, 3 } } },
		{ 0, 0, 4 * G1, 3, 0, { { 0, 3 }, { 4 * G1 - 1, 3 }, { 2 * G1, 3 } } },
		{ 0, 0, G1, 2, 1, { { 0, 2 }, { G1 - 1, 2 }, { G1 / 2, 2 } } },
		{ 0, 0, M2, 1, 2, { { 0, 1 }, { M2 - 1, 1 }, { M2 / 2, 1 } } },
		{ 0, M2, G1, 3, 1, { { 0, 2 }, { G1 - 1, 2 }, { G1 / 2, 2 } } },
		{ 0, K4, M2, 3, 2, { { 0, 1 }, { M2 - 1, 1 }, { M2 / 2, 1 } } },
		{ K4, 0, M2, 3, 3, { { K4, 1 }, { M2, 1 }, { M2 + K4 - 1, 1 } } },
		{ 5 * M2, 3 * M2, 2 * M2, 3, 1,
		  { { 5 * M2, 2 }, { 6 * M2, 2 }, { 7 * M2 - 1, 2 } } },
		{ 0, 0, M2 - K4, 3, 2, { { 0, 1 }, { M2 - 2 * K4, 1 }, { M2 / 2, 1 } } },
		{ 0, 0, G1 - M2, 3, 1, { { 0, 2 }, { G1 - M2 - 1, 2 }, { G1 / 2, 2 } } },
		{ 0, 0, G1 - K4, 3, 2, { { 0, 2 }, { G1 - K4 - 1, 1 }, { G1 - M2, 1 } } },
		{ 0, 0, M2 + K4, 3, 2, { { 0, 2 }, { M2, 1 }, { M2 - 1, 2 } } },
		{ M2 - K4, M2 - K4, M2 + 2 * K4, 3, 3,
		  { { M2 - K4, 1 }, { M2, 2 }, { 2 * M2, 1 } } },
		{ G1 - M2, G1 - M2, G1 + 2 * M2, 3, 2,
		  { { G1 - M2, 2 }, { G1, 3 }, { 2 * G1, 2 } } },
		{ G1 - K4, G1 - K4, G1 + 2 * K4, 3, 4,
		  { { G1 - K4, 1 }, { G1, 3 }, { 2 * G1, 1 } } },
	};
	u32 levels, i, k;

	for (levels = 4; levels <= 5; levels++)
		for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			struct space s;
			u32 level;

			unit_case("levels %u, row %u:", levels, i);
			space_open(&s, 16, levels, rows[i].max_leaf);
			CHECK(!paging_map(&s.p, rows[i].addr, rows[i].pa, rows[i].len,
					  PT_P | PT_W));
			for (k = 0; k < 3; k++) {
				u64 at = rows[i].leaf[k].at;

				CHECK_EQ(space_walk(&s, at, NULL, &level),
					 at - rows[i].addr + rows[i].pa);
				CHECK_EQ(level, rows[i].leaf[k].level);
			}
			CHECK_EQ(space_walk(&s, rows[i].addr + rows[i].len, NULL, &level),
				 NOT_MAPPED);
			if (rows[i].addr)
				CHECK_EQ(space_walk(&s, rows[i].addr - 1, NULL, &level),
					 NOT_MAPPED);
			CHECK_EQ(space_used(&s), levels - 2 + rows[i].tables);
			space_close(&s);
		}
}

static void find_levels(void)
{
	u32 levels, found;

	for (levels = 4; levels <= 5; levels++) {
		u64 high = (levels == 5 ? 1ull << 56 : 1ull << 47) - K4;
		struct space s;
		u32 level;

		unit_case("levels %u:", levels);
		space_open(&s, 32, levels, 3);
		for (level = 1; level <= levels; level++) {
			CHECK_EQ(*paging_find(&s.p, high, level, &found), 0);
			/* the page is not mapped: paging_find() returns the deepest level */
			CHECK_EQ(found, levels);
		}
		CHECK(!paging_map(&s.p, high, high, K4, PT_P));
		CHECK(!paging_map(&s.p, 2 * M2, 4 * M2, M2, PT_P));
		CHECK(!paging_map(&s.p, 3 * G1, 5 * G1, G1, PT_P));
		for (level = 1; level <= levels; level++) {
			paging_find(&s.p, high, level, &found);
			CHECK_EQ(found, level);
			paging_find(&s.p, 2 * M2 + 5 * K4, level, &found);
			CHECK_EQ(found, level < 2 ? 2 : level);
			paging_find(&s.p, 3 * G1 + 5 * M2, level, &found);
			CHECK_EQ(found, level < 3 ? 3 : level);
			/* an address next to the 2 MiB page */
			paging_find(&s.p, 8 * M2, level, &found);
			CHECK_EQ(found, level < 2 ? 2 : level);
			/* an address next to the 1 GiB page */
			paging_find(&s.p, 7 * G1, level, &found);
			CHECK_EQ(found, level < 3 ? 3 : level);
		}
		CHECK_EQ(*paging_find(&s.p, high, 1, &found), high | PT_P);
		CHECK_EQ(*paging_find(&s.p, 2 * M2, 1, &found), 4 * M2 | PT_P | PT_PS);
		CHECK_EQ(*paging_find(&s.p, 3 * G1, 1, &found), 5 * G1 | PT_P | PT_PS);
		space_close(&s);
	}
}

/*
 * Maps large identity pages, then sets entries at random places and levels. No translation may
 * change.
 */
static void splitting(void)
{
	static const u64 flags[] = {
		PT_P, PT_P | PT_W | PT_U, PT_P | PT_W | PT_U | PT_NX, PT_P | PT_PCD | PT_PWT,
		PT_P | PT_W | 1 << 5 | 1 << 6,		/* accessed, dirty */
	};
	u32 levels, max_leaf, f, i;

	for (levels = 4; levels <= 5; levels++)
		for (max_leaf = 2; max_leaf <= 3; max_leaf++)
			for (f = 0; f < sizeof(flags) / sizeof(flags[0]); f++) {
				u64 base = rnd_below(64) * G1, len = 4 * G1;
				u64 pa = rnd_below(1u << 18) * G1;
				struct space s;

				unit_case("levels %u, leaf %u, flags %#lx:", levels, max_leaf,
					  flags[f]);
				space_open(&s, 600, levels, max_leaf);
				CHECK(!paging_map(&s.p, base, pa, len, flags[f]));
				for (i = 0; i < 400; i++) {
					u64 at = rnd_below(len), probe;
					u32 level = 1 + rnd_below(max_leaf), found;

					CHECK(paging_entry(&s.p, base + at, level));
					paging_find(&s.p, base + at, level, &found);
					CHECK(found == level);
					check_at(&s, base + at, pa + at, flags[f]);
					probe = rnd_below(len);
					check_at(&s, base + probe, pa + probe, flags[f]);
				}
				for (i = 0; i < len / K4; i += 1 + (i & 1023 ? 0 : rnd_below(8)))
					check_at(&s, base + i * K4 + (i & 4095),
						 pa + i * K4 + (i & 4095), flags[f]);
				space_close(&s);
			}
}

struct page { u64 pa, flags; };

#define REGION		(3 * G1)
#define BASE		(G1)

static void map_random(struct space *s, struct page *pages)
{
	static const u64 units[] = { K4, K4, M2, M2, G1 };
	u64 unit = units[rnd_below(5)];
	u64 addr = rnd_below(REGION / unit) * unit;
	u64 len = (1 + rnd_below(unit == G1 ? 2 : unit == M2 ? 200 : 700)) * unit;
	u64 pa = rnd_below(1 << 10) * G1 + (rnd() & 1 ? addr % G1 : rnd_below(G1 / unit) * unit);
	u64 flags = PT_P | (rnd() & (PT_W | PT_U | PT_NX)), i;

	if (rnd() & 1)
		len += rnd_below(3) * K4;
	if (len > REGION - addr)
		len = REGION - addr;
	unit_case("map %#lx to %#lx, %#lx bytes:", addr, pa, len);
	if (paging_map(&s->p, BASE + addr, pa, len, flags))
		unit_give_up("the pool is empty");
	for (i = 0; i < len / K4; i++)
		pages[addr / K4 + i] = (struct page){ pa + i * K4, flags };
}

static void probe(const struct space *s, const struct page *pages, u64 addr)
{
	const struct page *page = &pages[addr / K4];

	check_at(s, BASE + addr, page->flags ? page->pa + addr % K4 : NOT_MAPPED, page->flags);
}

/* Overlapping random mappings, compared with a plain list of pages */
static void against_list(void)
{
	struct page *pages = malloc(REGION / K4 * sizeof(*pages));
	u32 round, i, k;

	for (round = 0; round < 6; round++) {
		struct space s;

		memset(pages, 0, REGION / K4 * sizeof(*pages));
		space_open(&s, 6000, 4 + round % 2, 1 + round % 3);
		for (i = 0; i < 40; i++) {
			/* 4 KiB pages only: whole GiBs take too long */
			if (s.pool.end - s.pool.next < 1200 * K4)
				break;
			map_random(&s, pages);
			for (k = 0; k < 2000; k++)
				probe(&s, pages, rnd_below(REGION));
		}
		for (i = 0; i < REGION / K4; i++)
			probe(&s, pages, i * K4 + rnd_below(K4));
		unit_case("after all:");
		space_close(&s);
	}
	free(pages);
}

/* Tries pools of every size. A pool that is too small is reported, and nothing is damaged. */
static void exhaustion(void)
{
	u32 levels, pages, i;

	for (levels = 4; levels <= 5; levels++)
		for (pages = 1; pages < 12; pages++) {
			/*
			 * 4 KiB at both sides of a 1 GiB border: 4 tables below the 512 GiB level
			 */
			u32 need = levels - 2 + 4;
			u64 mapped = pages >= levels - 2 ? 8 * G1 : NOT_MAPPED;
			struct space s;
			int failed;

			unit_case("levels %u, %u pages:", levels, pages);
			space_open(&s, pages, levels, 3);
			failed = paging_map(&s.p, 0, 8 * G1, 2 * G1, PT_P | PT_W);
			CHECK_EQ(failed, pages < levels - 2 ? -1 : 0);
			failed = paging_map(&s.p, G1 - K4, 9 * G1 - K4, 2 * K4, PT_P | PT_W);
			CHECK_EQ(failed, pages < need ? -1 : 0);
			CHECK(s.pool.next <= s.pool.end);
			if (mapped != NOT_MAPPED) {
				check_at(&s, 0, mapped, PT_P | PT_W);
				check_at(&s, G1 - 1, mapped + G1 - 1, PT_P | PT_W);
				check_at(&s, 2 * G1 - 1, mapped + 2 * G1 - 1, PT_P | PT_W);
			}
			for (i = 0; pages < need && i < 100000; i++)
				if (paging_entry(&s.p, rnd_below(2 * G1) | 300 * G1, 1))
					unit_give_up("pages out of nowhere");
			CHECK(s.pool.next <= s.pool.end);
			space_close(&s);
		}
}

static void pool_pages(void)
{
	u32 pages = 7, i;
	struct space s;
	u64 last = 0;

	space_open(&s, pages, 4, 3);
	CHECK_EQ(s.p.root, SPACE_PA);
	for (i = 1; i < pages; i++) {
		u64 pa = pt_take(&s.pool), k;

		CHECK(pa > last && pa % K4 == 0 && pa < SPACE_PA + s.pool.end);
		for (k = 0; k < 512; k++)
			CHECK_EQ(pt_table(&s.pool, pa)[k], 0);
		last = pa;
	}
	for (i = 0; i < 1000; i++)
		CHECK_EQ(pt_take(&s.pool), 0);
	CHECK_EQ(s.pool.next, s.pool.end);
	space_close(&s);
}

UNIT_SUITE(paging) = {
	{ "paging: a pool gives cleared pages until it is empty", pool_pages },
	{ "paging: the largest pages that fit are used", largest_pages },
	{ "paging: find works at every level", find_levels },
	{ "paging: splitting changes no translation", splitting },
	{ "paging: random mappings match a list of pages", against_list },
	{ "paging: an empty pool is reported and damages nothing", exhaustion },
	{ 0 }
};
