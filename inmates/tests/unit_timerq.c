// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include "../quest/kernel/timerq.h"
#include "sched_fixture.h"

#define VCPUS	5

static struct timerq q;
static int id[VCPUS], ran;

/* VCPU 0 has the shortest period, and so the highest priority. */
static void begin(void)
{
	int i;

	set_up(true);
	timerq_init(&q);
	ran = -1;
	for (i = 0; i < VCPUS; i++)
		id[i] = vcpu(MAIN_VCPU, 10, 100 + i, 0);
}

static void add(struct timer_event *e, int v, uint64_t at)
{
	timerq_add(&q, &s, e, id[v], at);
}

static struct timer_event *expire(uint64_t now)
{
	struct timer_event *e = timerq_due(&q, &s, ran, now);

	if (e)
		timerq_remove(&q, &s, e);
	return e;
}

TEST(timerq_orders)
{
	struct timer_event e[4] = { 0 };

	begin();
	CHECK(timerq_next(&q, &s, 0) == UINT64_MAX && !timerq_due(&q, &s, ran, UINT64_MAX));
	add(&e[0], 0, 30);
	add(&e[1], 0, 10);
	add(&e[2], 0, 20);
	add(&e[3], 0, 20);
	CHECK(timerq_next(&q, &s, 0) == 10);
	CHECK(!expire(9));
	CHECK(expire(20) == &e[1] && !e[1].queued);
	timerq_remove(&q, &s, &e[0]);
	timerq_remove(&q, &s, &e[0]);
	CHECK(expire(20) == &e[2]);
	CHECK(expire(20) == &e[3]);
	CHECK(!expire(UINT64_MAX));
}

/*
 * However many threads are due: while a VCPU with budget runs, those on VCPUs of lower priorities
 * stay, and need no interrupt. One on a VCPU of a higher priority comes first.
 */
TEST(timerq_takes_no_time_from_higher_priorities)
{
	static struct timer_event crowd[TIMERQ_MAX - 2];
	struct timer_event e = { 0 }, same = { 0 };
	unsigned int i;

	begin();
	for (i = 0; i < TIMERQ_MAX - 2; i++)
		add(&crowd[i], 3 + i % 2, 5);
	CHECK(sched_bind(&s, &a, id[1], 0) == 0);
	sched_ready(&s, &a, 0);
	CHECK(chosen(&a, 10, 0));
	ran = id[1];
	CHECK(!timerq_due(&q, &s, ran, 7) && timerq_next(&q, &s, 7) == UINT64_MAX);
	add(&same, 1, 7);
	add(&e, 0, 8);
	CHECK(timerq_next(&q, &s, 0) == 7);
	CHECK(expire(8) == &e && expire(8) == &same && !timerq_due(&q, &s, ran, 8));
	/* without budget in the foreground, they wake */
	sched_charge(&s, 10);
	CHECK(timerq_next(&q, &s, 10) == 5 && timerq_due(&q, &s, ran, 10)->vcpu == id[3]);
	sched_block(&s, &a, 10);
	for (i = 0; i < TIMERQ_MAX - 2; i++)
		CHECK(expire(10));
	CHECK(timerq_next(&q, &s, 10) == UINT64_MAX);
}

/*
 * However short its period is: a VCPU without budget could not run, so its threads stay while
 * another VCPU has budget, or is due to get the CPU.
 */
TEST(timerq_takes_no_time_for_vcpus_without_budget)
{
	static struct timer_event crowd[TIMERQ_MAX - 1];
	struct timer_event e = { 0 };
	unsigned int i;

	begin();
	CHECK(sched_bind(&s, &a, id[0], 0) == 0 && sched_bind(&s, &b, id[2], 0) == 0);
	for (i = 0; i < TIMERQ_MAX - 1; i++)
		add(&crowd[i], 0, 15);
	add(&e, 1, 15);
	sched_ready(&s, &a, 0);
	CHECK(chosen(&a, 10, 0));
	sched_block(&s, &a, 10);
	timerq_update(&q, &s, id[0]);
	/* the CPU is idle: the thread whose VCPU has budget is first */
	CHECK(timerq_next(&q, &s, 10) == 15 && timerq_due(&q, &s, ran, 15) == &e);
	sched_ready(&s, &b, 10);
	CHECK(chosen(&b, 20, 10));
	CHECK(timerq_next(&q, &s, 10) == 15 && expire(15) == &e && !timerq_due(&q, &s, ran, 15));
	CHECK(timerq_next(&q, &s, 15) == 100);
	/* in the background they wake before that */
	sched_block(&s, &b, 18);
	CHECK(timerq_next(&q, &s, 18) == 15 && timerq_due(&q, &s, ran, 18) == &crowd[0]);
	sched_ready(&s, &b, 18);
	CHECK(chosen(&b, 20, 18) && !timerq_due(&q, &s, ran, 19));
	sched_block(&s, &b, 20);
	CHECK(expire(100) == &crowd[0] && timerq_since(&q, id[0], 100) == 15);
}

/* One thread of a VCPU lets it run; then the VCPU pays for the wake-ups of the others. */
TEST(timerq_lets_a_vcpu_pay_for_its_threads)
{
	struct timer_event e[2] = { 0 };

	begin();
	CHECK(sched_bind(&s, &a, id[0], 0) == 0);
	add(&e[0], 0, 5);
	add(&e[1], 0, 5);
	CHECK(expire(5) == &e[0]);
	sched_ready(&s, &a, 5);
	CHECK(!timerq_due(&q, &s, ran, 5) && chosen(&a, 15, 5));
	CHECK(timerq_next(&q, &s, 5) == 5);
	ran = id[0];
	CHECK(timerq_due(&q, &s, ran, 6) == &e[1]);
	sched_charge(&s, 15);
	timerq_update(&q, &s, ran);
	CHECK(timerq_due(&q, &s, ran, 15) == &e[1]);	/* in the background */
}

/* Else a VCPU would get its next budget later, by the time for which its thread woke late. */
TEST(timerq_knows_since_when_a_vcpu_is_late)
{
	struct timer_event e[2] = { 0 };

	begin();
	CHECK(timerq_since(&q, id[2], 50) == 50);
	add(&e[0], 2, 20);
	add(&e[1], 2, 90);
	CHECK(timerq_since(&q, id[2], 50) == 20 && timerq_since(&q, id[2], 10) == 10);
	CHECK(timerq_since(&q, id[1], 50) == 50);
	timerq_remove(&q, &s, &e[0]);
	CHECK(timerq_since(&q, id[2], 50) == 50);
}

/* Compares the queue with a list. Many events are added and removed at random. */
TEST(timerq_is_as_a_list)
{
	static struct timer_event e[TIMERQ_MAX];
	struct timer_event *taken;
	uint64_t last, i, least;

	begin();
	srand(1);
	for (i = 0; i < TIMERQ_MAX; i++)
		add(&e[i], rand() % VCPUS, rand() % 100);
	for (i = 0; i < TIMERQ_MAX; i += 3)
		timerq_remove(&q, &s, &e[i]);
	/* another priority */
	for (i = 0; i < VCPUS; i++) {
		s.vcpus[id[i]].main.period = 200 - i;
		timerq_update(&q, &s, id[i]);
	}
	for (last = 0; last < 100; last++)
		while ((taken = expire(last))) {
			least = UINT64_MAX;
			for (i = 0; i < TIMERQ_MAX; i++)
				if (e[i].queued && e[i].at < least)
					least = e[i].at;
			CHECK(taken->at == last && taken->at <= least);
			CHECK(least == timerq_next(&q, &s, last));
		}
	for (i = 0; i < TIMERQ_MAX; i++)
		CHECK(!e[i].queued);
}

/* The work for one event grows with the logarithm of their number, whatever their times are. */
TEST(timerq_looks_at_few_events)
{
	static struct timer_event e[TIMERQ_MAX];
	unsigned int order, i, right;
	const struct timer_event *way;

	for (order = 0; order < 3; order++) {
		begin();
		for (i = 0; i < TIMERQ_MAX; i++)
			add(&e[i], 0, order == 0 ? i : order == 1 ? TIMERQ_MAX - i : i * 7 % 64);
		for (i = 0; i < TIMERQ_MAX; i += 2)
			timerq_remove(&q, &s, &e[i]);
		for (i = 0; i < TIMERQ_MAX; i++) {
			right = 0;
			for (way = &e[i]; e[i].queued && way; way = way->right)
				right++;
			CHECK(right <= 8);
		}
	}
}
