// SPDX-License-Identifier: GPL-2.0-only
/* paging.c while two CPUs make tables at once and a third walks them. */
#include <pthread.h>
#include <string.h>
#include "space.h"
#include "unit.h"

#define M2	0x200000ull
#define G1	0x40000000ull
#define WANTED	64

struct race {
	struct space s;
	pthread_barrier_t start;
	u64 addr[WANTED];
	u32 level[WANTED];
	bool done;
};

struct runner {
	struct race *race;
	u64 *got[WANTED];
	u64 taken[WANTED];
	bool wrong;
};

static void *deepen(void *arg)
{
	struct runner *r = arg;
	u32 i;

	pthread_barrier_wait(&r->race->start);
	for (i = 0; i < WANTED; i++)
		r->got[i] = paging_entry(&r->race->s.p, r->race->addr[i], r->race->level[i]);
	return NULL;
}

static void *walk(void *arg)
{
	struct runner *r = arg;
	u64 at = 12345, flags;
	u32 level;

	pthread_barrier_wait(&r->race->start);
	while (!__atomic_load_n(&r->race->done, __ATOMIC_ACQUIRE)) {
		at = (at * 6364136223846793005ull + 1442695040888963407ull) % (2 * G1);
		if (space_walk(&r->race->s, at, &flags, &level) != at + 4 * G1 ||
		    flags != (PT_P | PT_U))
			r->wrong = true;
	}
	return NULL;
}

static void same_entries(void)
{
	static struct race race;
	struct runner runner[3];
	pthread_t thread[3];
	u32 round, i, k, level;
	u64 flags, at;

	for (round = 0; round < 60; round++) {
		unit_case("round %u:", round);
		memset(runner, 0, sizeof(runner));
		race.done = false;
		space_open(&race.s, 512, 4 + round % 2, 3);
		CHECK(!paging_map(&race.s.p, 0, 4 * G1, 2 * G1, PT_P | PT_U));
		for (i = 0; i < WANTED; i++) {
			race.addr[i] = rnd_below(2 * G1);
			race.level[i] = 1 + rnd_below(2);
		}
		pthread_barrier_init(&race.start, NULL, 3);
		for (i = 0; i < 3; i++) {
			runner[i].race = &race;
			pthread_create(&thread[i], NULL, i < 2 ? deepen : walk, &runner[i]);
		}
		pthread_join(thread[0], NULL);
		pthread_join(thread[1], NULL);
		__atomic_store_n(&race.done, true, __ATOMIC_RELEASE);
		pthread_join(thread[2], NULL);
		CHECK(!runner[2].wrong);
		for (i = 0; i < WANTED; i++) {
			/* an entry in a table that lost the race would not be found */
			CHECK(runner[0].got[i] && runner[0].got[i] == runner[1].got[i]);
			CHECK(paging_find(&race.s.p, race.addr[i], race.level[i], &level) ==
			      runner[0].got[i]);
		}
		for (k = 0; k < 20000; k++) {
			at = rnd_below(2 * G1);
			CHECK_EQ(space_walk(&race.s, at, &flags, &level), at + 4 * G1);
			CHECK_EQ(flags, PT_P | PT_U);
		}
		pthread_barrier_destroy(&race.start);
		space_close(&race.s);
	}
}

static void *take(void *arg)
{
	struct runner *r = arg;
	u32 i;

	pthread_barrier_wait(&r->race->start);
	for (i = 0; i < WANTED; i++)
		r->taken[i] = pt_take(&r->race->s.pool);
	return NULL;
}

/*
 * Two CPUs request more pages than a pool has. Each page is given once, and no page beyond the end.
 */
static void no_page_twice(void)
{
	static struct race race;
	struct runner runner[2];
	pthread_t thread[2];
	u32 round, i, k, given;

	for (round = 0; round < 300; round++) {
		u32 pages = 20 + round % 100, seen[256] = { 0 };

		unit_case("%u pages:", pages);
		space_open(&race.s, pages, 4, 3);
		pthread_barrier_init(&race.start, NULL, 2);
		for (i = 0; i < 2; i++) {
			runner[i].race = &race;
			pthread_create(&thread[i], NULL, take, &runner[i]);
		}
		for (i = given = 0; i < 2; i++)
			pthread_join(thread[i], NULL);
		for (i = 0; i < 2; i++)
			for (k = 0; k < WANTED; k++)
				if (runner[i].taken[k]) {
					u64 n = (runner[i].taken[k] - SPACE_PA) / 4096;

					given++;
					CHECK(n > 0 && n < pages && !seen[n]++);
				}
		CHECK_EQ(given, pages - 1 < 2 * WANTED ? pages - 1 : 2 * WANTED);
		CHECK(race.s.pool.next <= race.s.pool.end);
		pthread_barrier_destroy(&race.start);
		space_close(&race.s);
	}
}

UNIT_SUITE(paging_race) = {
	{ "paging race: two CPUs find the same entries", same_entries },
	{ "paging race: a pool gives no page twice", no_page_twice },
	{ 0 }
};
