// SPDX-License-Identifier: GPL-2.0-only
/*
 * The manager must be able to build each cell that request.c accepts. The pages for a cell's tables
 * suffice, up to the largest cell.
 */
#include <string.h>
#include "abi/errors.h"
#include "unit.h"
#include "world.h"

#define M2	(u64)QV_HUGE
#define G1	0x40000000ull
#define LARGE	(600 * G1)

/* @pages of memory in @runs pieces, from 4 GiB on: the memory below has holes */
static void ask(struct qv_mon_create *q, u64 pages, u32 runs, u32 cpus)
{
	u64 at = 4 * G1;
	u32 i;

	memset(q, 0, sizeof(*q));
	q->block_pa = 10 * M2;
	q->console_pa = 0x180000;
	q->num_cpus = cpus;
	q->bell_rate = 10;
	for (i = 0; i < cpus; i++)
		q->cpus[i] = i + 1;
	q->num_runs = runs;
	for (i = 0; i < runs; i++) {
		u64 count = pages / runs + (i < pages % runs);

		q->runs[i] = (struct qv_mon_run){ at, count };
		at += (count + 1) * M2;
	}
}

/* Creates and destroys a cell of this size. Returns the error. */
static u64 try(u64 pages, u32 runs, u32 cpus)
{
	static struct qv_mon_create q;
	static struct world w;
	u64 result;

	world_open(&w);
	ask(&q, pages, runs, cpus);
	result = world_create(&w, &q);
	unit_case("levels %u, %lu pages in %u runs, %u CPUs:", fake_levels, pages, runs, cpus);
	if (result > QV_ME_BASE)
		return result;
	CHECK(fake_instance(q.block_pa)->pt_pool.next <= QV_BLOCK_CELL);
	world_check(&w);
	CHECK_EQ(world_reclaim(&w, 1), 0);
	return 0;
}

/* The limit in request.c: a page directory per GiB and 32 pages */
static u64 most(u32 cpus)
{
	return ((QV_BLOCK_CELL - QV_OFF_CPUS - cpus * QV_CPU_LEN) / QV_PAGE - 32) * 512 + 511;
}

static void sizes(void)
{
	static const u64 some[] = {
		1, 2, 511, 512, 513, 1024, 5 * 512 + 1, 100 * 512, 200 * 512 + 77
	};
	u32 i, cpus;

	fake_ram_end = LARGE;
	for (fake_levels = 4; fake_levels <= 5; fake_levels++, fake_ept++)
		for (cpus = 1; cpus <= 3; cpus += 2) {
			for (i = 0; i < sizeof(some) / sizeof(some[0]); i++)
				CHECK_EQ(try(some[i], some[i] < 3 ? 1 : 3, cpus), 0);
			CHECK_EQ(try(most(cpus), 1, cpus), 0);
			CHECK_EQ(try(most(cpus), QV_MON_RUNS, cpus), 0);
			CHECK_EQ(try(most(cpus) + 1, 1, cpus), QV_ME_TABLES);
		}
}

UNIT_SUITE(tables) = {
	{ "tables: every accepted size of cell can be built", sizes },
	{ 0 }
};
