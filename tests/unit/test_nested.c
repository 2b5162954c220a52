// SPDX-License-Identifier: GPL-2.0-only
/* nested.c: the front end's tables, an identity map with holes. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "abi/boot.h"
#include "abi/layout.h"
#include "front_model.h"
#include "unit.h"

#define K4	0x1000ull
#define M2	FRONT_M2
#define G1	0x40000000ul
#define RWX	(PT_P | PT_W | PT_U)

static void fill_takes_the_largest(void)
{
	static const struct { u64 pa; u32 max_leaf, tables; } rows[] = {
		{ 0x12345678, 3, 0 }, { 5 * G1 + 1, 3, 0 }, { 0x12345678, 2, 1 }, { M2 - 1, 2, 1 },
	};
	u32 levels, i, level;

	for (levels = 4; levels <= 5; levels++)
		for (i = 0; i < 4; i++) {
			u64 size = level_size(rows[i].max_leaf), pa = rows[i].pa;
			u64 start = pa & -size;
			struct space s;
			u64 flags;

			unit_case("levels %u, row %u:", levels, i);
			space_open(&s, 8, levels, rows[i].max_leaf);
			CHECK_EQ(front_owner(&s.p, pa, 1), FRONT_OWNS);
			CHECK_EQ(front_fill(&s.p, pa), 0);
			CHECK_EQ(space_walk(&s, start, &flags, &level), start);
			CHECK_EQ(flags, RWX);
			CHECK_EQ(level, rows[i].max_leaf);
			CHECK_EQ(space_walk(&s, start + size - 1, NULL, &level), start + size - 1);
			CHECK_EQ(space_walk(&s, start + size, NULL, &level), NOT_MAPPED);
			CHECK_EQ(space_used(&s), levels - 2 + rows[i].tables);
			CHECK_EQ(front_fill(&s.p, start), 0);	/* the page is mapped */
			CHECK_EQ(space_used(&s), levels - 2 + rows[i].tables);
			CHECK_EQ(front_owner(&s.p, start, 1), FRONT_OWNS);
			space_close(&s);
		}
}

/* A hole in memory that Linux has not touched; then Linux touches each page around it. */
static void fill_around_a_hole(void)
{
	u32 levels, max_leaf, i;

	for (levels = 4; levels <= 5; levels++)
		for (max_leaf = 2; max_leaf <= 3; max_leaf++) {
			static struct front_model f;
			/* the first round is for NPT, the second one for EPT */
			u32 hole = 700 + max_leaf;

			front_model_open(&f, levels, max_leaf, hole & 1);
			front_model_take(&f, hole);
			for (i = 0; i < FRONT_PAGES; i++)
				front_model_touch(&f, i * M2 + rnd_below(M2));
			for (i = 0; i < 3000; i++)
				front_model_touch(&f, hole * M2 + rnd_below(M2));
			front_model_check_all(&f);
			front_model_give(&f, hole);
			front_model_check_all(&f);
			front_model_close(&f);
		}
}

/* A page of the front end with a special entry must not be taken for normal RAM. */
static void owner_of_special_pages(void)
{
	static const struct { u64 entry; enum front_owner want; } rows[] = {
		{ 0, FRONT_OWNS },
		{ NESTED_HOLE, FRONT_HOLE },
		{ 6 * M2 | RWX | PT_PS, FRONT_OWNS },
		{ 6 * M2 | RWX | PT_PS | 1 << 5 | 1 << 6, FRONT_OWNS },	/* accessed, dirty */
		{ 6 * M2 | PT_P | PT_U | PT_PS, FRONT_SPECIAL },		/* read-only */
		{ 6 * M2 | PT_P | PT_W | PT_PS, FRONT_SPECIAL },
		{ 5 * M2 | RWX | PT_PS, FRONT_SPECIAL },			/* not identity */
		{ (1ull << 40) | 6 * M2 | RWX | PT_PS, FRONT_SPECIAL },
	};
	struct space s;
	u64 *entry;
	u32 i;

	space_open(&s, 16, 4, 3);
	entry = paging_entry(&s.p, 6 * M2, 2);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unit_case("entry %#lx:", rows[i].entry);
		*entry = rows[i].entry;
		CHECK_EQ(front_owner(&s.p, 6 * M2, 2), rows[i].want);
		CHECK_EQ(front_owner(&s.p, 6 * M2 + 5 * K4, 1), rows[i].want);
		CHECK_EQ(front_owner(&s.p, 7 * M2, 2), FRONT_OWNS);
	}
	unit_case("4 KiB pages:");
	*entry = 6 * M2 | RWX | PT_PS;
	*paging_entry(&s.p, 6 * M2 + 3 * K4, 1) = (6 * M2 + 3 * K4) | PT_P | PT_U;
	*paging_entry(&s.p, 6 * M2 + 4 * K4, 1) = NESTED_HOLE;
	*paging_entry(&s.p, 6 * M2 + 5 * K4, 1) = 0;
	CHECK_EQ(front_owner(&s.p, 6 * M2, 2), FRONT_SPECIAL);
	CHECK_EQ(front_owner(&s.p, 6 * M2 + 2 * K4, 1), FRONT_OWNS);
	CHECK_EQ(front_owner(&s.p, 6 * M2 + 3 * K4, 1), FRONT_SPECIAL);
	CHECK_EQ(front_owner(&s.p, 6 * M2 + 4 * K4, 1), FRONT_HOLE);
	CHECK_EQ(front_owner(&s.p, 6 * M2 + 5 * K4, 1), FRONT_OWNS);
	space_close(&s);
}

/*
 * The tables know the borders of RAM. No page mixes RAM with other memory, or memory below 1 MiB
 * with memory above.
 */
static void pages_of_one_kind(void)
{
	static const struct qv_mon_boot machine = {
		.num_ram = 5, .phys_bits = 40,
		.ram = {
			{ 0x1000, 0x9f000 }, { 0x100000, 0x7ff05000 }, { 0x7ff0a000, 0x80000000 },
			{ 4 * G1, 6 * G1 + 3 * M2 }, { 8 * G1, 9 * G1 },
		},
	};
	u64 places[64], to, flags;
	u32 round, i, k, level;
	bool ram;

	for (round = 0; round < 60; round++) {
		struct space s;

		space_open(&s, 64, 4 + round % 2, 2 + round / 2 % 2);
		s.p.ram = round % 3 ? &machine : NULL;
		s.p.ept = round / 4 % 2;
		for (i = 0; i < 64; i++) {
			u64 from = machine.ram[rnd_below(5)].start;
			u64 end = machine.ram[rnd_below(5)].end;

			places[i] = (rnd() & 1 ? from : end) + (rnd_below(8 * M2) - 4 * M2);
			places[i] = rnd() & 1 ? rnd_below(10 * G1) : places[i] % (10 * G1);
			if (space_used(&s) > 55)
				places[i] = places[0];
			unit_case("round %u, %#lx:", round, places[i]);
			CHECK_EQ(front_fill(&s.p, places[i]), 0);
			to = space_walk(&s, places[i], &flags, &level);
			CHECK_EQ(to, places[i]);
			ram = false;
			for (k = 0; s.p.ram && k < 5; k++)
				ram |= to >= machine.ram[k].start && to < machine.ram[k].end;
			CHECK_EQ(flags, RWX | (s.p.ept && ram ? 6 << 3 : 0));
			for (k = 0; s.p.ram && k < 5; k++) {
				u64 low = machine.ram[k].start, high = machine.ram[k].end;
				u64 start = to & -level_size(level);
				u64 last = start + level_size(level) - 1;
				bool first_in = start >= low && start < high;
				bool last_in = last >= low && last < high;
				bool around = start < low && last >= high;

				CHECK(first_in == last_in && !around);
				CHECK(start >= 0x100000 || level == 1);
			}
		}
		for (i = 0; i < 64; i++)
			CHECK_EQ(space_walk(&s, places[i], NULL, &level), places[i]);
		space_close(&s);
	}
}

/*
 * Addresses beyond the tables, where paging_find() would find another page, and addresses that the
 * processor cannot use
 */
static void addresses_out_of_reach(void)
{
	static const struct qv_mon_boot machine = { .phys_bits = 46 };
	static const struct { u64 pa; u32 levels; bool known, reached; } rows[] = {
		{ (1ull << 48) - 1, 4, false, true }, { 1ull << 48 | 5 * M2, 4, false, false },
		{ 1ull << 48 | 5 * M2, 5, false, true }, { 1ull << 57 | 5 * M2, 5, false, false },
		{ (1ull << 46) - 1, 4, true, true }, { 1ull << 46, 4, true, false },
		{ 1ull << 47 | 5 * M2, 5, true, false }, { 1ull << 63, 5, true, false },
	};
	u32 i, used;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct space s;

		unit_case("%#lx, %u levels:", rows[i].pa, rows[i].levels);
		space_open(&s, 16, rows[i].levels, 3);
		s.p.ram = rows[i].known ? &machine : NULL;
		CHECK_EQ(front_fill(&s.p, 5 * M2), 0);
		used = space_used(&s);
		CHECK_EQ(front_reaches(&s.p, rows[i].pa), rows[i].reached);
		CHECK_EQ(front_fill(&s.p, rows[i].pa), rows[i].reached ? 0 : -1);
		if (!rows[i].reached)
			CHECK_EQ(space_used(&s), used);
		space_close(&s);
	}
}

static void random_sequences(void)
{
	static struct front_model f;
	u32 round, i;

	for (round = 0; round < 12; round++) {
		front_model_open(&f, 4 + round % 2, 2 + round / 2 % 2, round / 4 % 2);
		for (i = 0; i < 20000; i++) {
			u64 choice = rnd();

			/* some rounds use few addresses, so that pages repeat */
			if (round % 3 == 0)
				choice = (choice & ~0xffff00ull) | (rnd_below(24) + 508) << 8;
			front_model_step(&f, choice);
		}
		front_model_check_all(&f);
		front_model_close(&f);
	}
}

/* Without memory for a table the result is -1, and nothing changes. */
static void without_tables(void)
{
	u32 pages, level;

	for (pages = 1; pages < 5; pages++) {
		struct space s;
		bool fits = pages >= 3;		/* the root, and tables for 1 GiB and 2 MiB */

		unit_case("%u pages:", pages);
		space_open(&s, pages, 4, 3);
		CHECK_EQ(front_prepare(&s.p, 5 * M2, M2), fits ? 0 : -1);
		CHECK(s.pool.next <= s.pool.end);
		if (!fits) {
			CHECK_EQ(front_owner(&s.p, 5 * M2, 2), FRONT_OWNS);
			/* there is no entry to change; a larger page must stay as it is */
			front_set(&s.p, 5 * M2, M2, LINUX_NONE);
			CHECK_EQ(front_owner(&s.p, 5 * M2, 2), FRONT_OWNS);
			CHECK_EQ(front_owner(&s.p, 9 * M2, 2), FRONT_OWNS);
		} else {
			CHECK_EQ(space_walk(&s, 6 * M2, NULL, &level), 6 * M2);
		}
		space_close(&s);
	}
}

/* ---- a CPU takes and gives pages while another CPU has nested faults on them ---- */

struct race {
	struct space s;
	pthread_barrier_t start;
	bool done;
};

static void *touch_all(void *arg)
{
	struct race *r = arg;
	u64 at = 99;

	pthread_barrier_wait(&r->start);
	while (!__atomic_load_n(&r->done, __ATOMIC_ACQUIRE)) {
		at = at * 6364136223846793005ull + 1442695040888963407ull;
		front_fill(&r->s.p, (at >> 20) % (2 * G1));
	}
	return NULL;
}

static void holes_under_fire(void)
{
	static struct race r;
	pthread_t thread;
	u32 round, i, level;

	for (round = 0; round < 200; round++) {
		unit_case("round %u:", round);
		r.done = false;
		space_open(&r.s, 64, 4, 2 + round % 2);
		pthread_barrier_init(&r.start, NULL, 2);
		pthread_create(&thread, NULL, touch_all, &r);
		pthread_barrier_wait(&r.start);
		for (i = 0; i < 200; i++) {
			u64 pa = rnd_below(1024) * M2;

			CHECK(!front_prepare(&r.s.p, pa, M2));
			front_set(&r.s.p, pa, M2, LINUX_NONE);
			CHECK_EQ(space_walk(&r.s, pa + rnd_below(M2), NULL, &level), NOT_MAPPED);
			CHECK_EQ(front_owner(&r.s.p, pa, 2), FRONT_HOLE);
			CHECK_EQ(front_owner(&r.s.p, pa, 2), FRONT_HOLE);
			front_set(&r.s.p, pa, M2, LINUX_ALL);
			CHECK_EQ(space_walk(&r.s, pa, NULL, &level), pa);
		}
		__atomic_store_n(&r.done, true, __ATOMIC_RELEASE);
		pthread_join(thread, NULL);
		pthread_barrier_destroy(&r.start);
		space_close(&r.s);
	}
}

UNIT_SUITE(nested) = {
	{ "nested: fill maps the largest page that fits", fill_takes_the_largest },
	{ "nested: fill never closes a hole", fill_around_a_hole },
	{ "nested: special entries are not plain RAM", owner_of_special_pages },
	{ "nested: no page mixes memory of two kinds", pages_of_one_kind },
	{ "nested: addresses out of reach are rejected", addresses_out_of_reach },
	{ "nested: random sequences match a list of pages", random_sequences },
	{ "nested: without pages for tables nothing changes", without_tables },
	{ "nested race: holes remain while another CPU fills", holes_under_fire },
	{ 0 }
};
