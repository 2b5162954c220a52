// SPDX-License-Identifier: GPL-2.0-only
/*
 * front/touch.c: two CPUs of Linux have nested faults while a third CPU creates and destroys cells.
 */
#include <pthread.h>
#include <string.h>
#include "fake_vendor.h"
#include "tables.h"
#include "unit.h"
#include "world.h"

#define M2	(u64)QV_HUGE

static bool done;

static void *touch(void *arg)
{
	struct pcpu *cpu = pcpu_of((u64)arg);
	u64 at = (u64)arg * 77;

	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
		at = at * 6364136223846793005ull + 1442695040888963407ull;
		fake_memory_exit(cpu, 10 * M2 + (at >> 20) % (6 * M2), at >> 60 & 1);
	}
	return NULL;
}

static void touches(void)
{
	static struct qv_mon_create q;
	static struct world w;
	pthread_t thread[2];
	u64 i, result;

	world_open(&w);
	q.block_pa = 10 * M2;
	q.console_pa = 0x180000;
	q.num_cpus = 1;
	q.bell_rate = 10;
	q.cpus[0] = 3;
	q.num_runs = 1;
	q.runs[0] = (struct qv_mon_run){ 11 * M2, 4 };
	q.entry.eip = 0x100000;
	for (i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, touch, (void *)(i + 1));
	for (i = 0; i < 400; i++) {
		unit_case("life %lu:", i);
		if (!CHECK_EQ(world_create(&w, &q), 1) || !CHECK_EQ(world_start(&w, 1), 0) ||
		    !CHECK_EQ(world_stop(&w, 1), 0))
			break;
		do
			result = world_reclaim(&w, 1);
		while (result == 1);
		if (!CHECK_EQ(result, 0))
			break;
	}
	__atomic_store_n(&done, true, __ATOMIC_RELEASE);
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	world_check(&w);
	for (i = 10; i < 16; i++) {
		struct leaf l;

		unit_case("page %lu:", i);
		world_touch(&w, i * M2 + 0x1234, true);
		l = tables_walk(&me()->nested, i * M2 + 0x1234);
		CHECK(l.present && l.write && l.pa == i * M2 + 0x1234);
	}
}

static void touches_meanwhile(void)
{
	for (fake_ept = 0; fake_ept < 2; fake_ept++) {
		done = false;
		touches();
	}
}

UNIT_SUITE(front) = {
	{ "front race: accesses during create and destroy see no hole", touches_meanwhile },
	{ 0 }
};
