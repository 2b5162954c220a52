// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include "../quest/kernel/timerq.h"
#include "unit.h"

TEST(timerq_orders)
{
	struct timerq q = { 0 };
	struct timer_event e[4] = { 0 };

	CHECK(timerq_next(&q) == UINT64_MAX && !timerq_expire(&q, UINT64_MAX));
	timerq_add(&q, &e[0], 30);
	timerq_add(&q, &e[1], 10);
	timerq_add(&q, &e[2], 20);
	timerq_add(&q, &e[3], 20);
	CHECK(timerq_next(&q) == 10);
	CHECK(!timerq_expire(&q, 9));
	CHECK(timerq_expire(&q, 20) == &e[1] && !e[1].queued);
	timerq_remove(&q, &e[0]);
	timerq_remove(&q, &e[0]);
	CHECK(timerq_expire(&q, 20) == &e[2]);
	CHECK(timerq_expire(&q, 20) == &e[3]);
	CHECK(!timerq_expire(&q, UINT64_MAX));
}

/* Compares the queue with a list. Many events are added and removed at random. */
TEST(timerq_heap)
{
	static struct timer_event e[TIMERQ_MAX];
	static struct timerq q;
	struct timer_event *taken;
	uint64_t last, i, least;

	srand(1);
	for (i = 0; i < TIMERQ_MAX; i++)
		timerq_add(&q, &e[i], rand() % 100);
	for (i = 0; i < TIMERQ_MAX; i += 3)
		timerq_remove(&q, &e[i]);
	for (last = 0; (taken = timerq_expire(&q, 100)); last = taken->at) {
		least = UINT64_MAX;
		for (i = 0; i < TIMERQ_MAX; i++)
			if (e[i].queued && e[i].at < least)
				least = e[i].at;
		CHECK(taken->at >= last && taken->at <= least);
		CHECK(least == timerq_next(&q));
	}
	for (i = 0; i < TIMERQ_MAX; i++)
		CHECK(!e[i].queued);
}
