// SPDX-License-Identifier: GPL-2.0-only
/* Tests of the servers alone. test_sched_figure.py tests the whole figure 4.3. */
#include <string.h>
#include "../quest/sched/pibs.h"
#include "../quest/sched/sched.h"
#include "../quest/sched/sporadic.h"
#include "unit.h"

static struct sporadic m;
static struct pibs p;

static bool queue_is(unsigned int n, const uint64_t (*pairs)[2])
{
	unsigned int i;

	for (i = 0; i < n && i < m.length; i++)
		if (m.queue[i].at != pairs[i][0] || m.queue[i].amount != pairs[i][1])
			return false;
	return m.length == n;
}

#define QUEUE(...) \
	CHECK(queue_is(sizeof((const uint64_t[][2]){ __VA_ARGS__ }) / 16, \
		       (const uint64_t[][2]){ __VA_ARGS__ }))

TEST(sporadic_overrun_is_put_off)
{
	sporadic_init(&m, 20, 50, 0);
	CHECK(sporadic_charge(&m, 5, 5) == 0);
	sporadic_block(&m, 5);
	QUEUE({ 0, 15 }, { 50, 5 });
	/* an overrun of three, taken from the next chunk */
	CHECK(sporadic_charge(&m, 18, 23) == 3);
	/* 53 = 50 + the overrun of 3, merged with the chunk at 50 */
	QUEUE({ 53, 20 });
	CHECK(m.usage == 3 && sporadic_left(&m) == 17);
}

TEST(sporadic_overrun_in_pieces)
{
	sporadic_init(&m, 20, 50, 0);
	sporadic_charge(&m, 5, 5);
	sporadic_block(&m, 5);
	CHECK(sporadic_charge(&m, 16, 21) == 1);
	QUEUE({ 51, 20 });
	/* the result is the same as for an overrun of three at once */
	CHECK(sporadic_charge(&m, 2, 23) == 2);
	QUEUE({ 53, 20 });
	CHECK(m.usage == 3);
}

TEST(sporadic_counts_what_is_outstanding)
{
	sporadic_init(&m, 20, 50, 0);
	CHECK(sporadic_outstanding(&m, 0) == 0);
	sporadic_charge(&m, 5, 5);
	CHECK(sporadic_outstanding(&m, 5) == 5);
	sporadic_block(&m, 5);
	CHECK(sporadic_outstanding(&m, 5) == 5);
	sporadic_charge(&m, 15, 30);
	CHECK(sporadic_outstanding(&m, 30) == 20 && sporadic_outstanding(&m, 50) == 0);
}

TEST(sporadic_overrun_of_many_rounds)
{
	sporadic_init(&m, 20, 50, 0);
	sporadic_charge(&m, 5, 5);
	sporadic_block(&m, 5);
	CHECK(sporadic_charge(&m, 15 + 20 * 1000000 + 1, 21 + 20 * 1000000) == 20 * 1000000 + 1);
	QUEUE({ 50000051, 20 });
	CHECK(m.usage == 1);
}

/*
 * If the queue is full, used budget is replenished late, together with another chunk. Unused budget
 * stays usable.
 */
TEST(sporadic_full_queue_delays_what_was_used)
{
	sporadic_init(&m, 20, 100, 0);
	m.limit = 2;
	sporadic_charge(&m, 5, 5);
	sporadic_block(&m, 5);
	QUEUE({ 0, 15 }, { 100, 5 });
	sporadic_unblock(&m, 10);
	sporadic_charge(&m, 5, 15);
	sporadic_block(&m, 15);
	QUEUE({ 10, 10 }, { 110, 10 });
	CHECK(sporadic_left(&m) == 10 && sporadic_settled(&m) == 110);
}

/*
 * There is room for two chunks behind the first. Delaying 2 units by 10 costs less than delaying 3
 * units by 40.
 */
TEST(sporadic_full_queue_delays_the_least)
{
	sporadic_init(&m, 20, 100, 0);
	m.limit = 3;
	sporadic_charge(&m, 3, 3);
	sporadic_block(&m, 3);
	sporadic_unblock(&m, 40);
	sporadic_charge(&m, 2, 42);
	sporadic_block(&m, 42);
	sporadic_unblock(&m, 50);
	sporadic_charge(&m, 4, 54);
	sporadic_block(&m, 54);
	QUEUE({ 50, 11 }, { 100, 3 }, { 150, 6 });
}

TEST(sporadic_parameters_change)
{
	sporadic_init(&m, 20, 50, 0);
	m.limit = 4;
	sporadic_charge(&m, 5, 5);
	sporadic_set(&m, 40, 100, 50);
	QUEUE({ 50, 40 });
	CHECK(m.limit == 4 && !m.usage);
}

TEST(sporadic_moves_to_another_clock)
{
	struct sporadic there;

	sporadic_init(&m, 20, 50, 1000);
	sporadic_charge(&m, 5, 1005);
	sporadic_block(&m, 1005);
	there = m;
	sporadic_shift(&there, -300);
	sporadic_unblock(&m, 1010);
	sporadic_unblock(&there, 710);
	sporadic_charge(&m, 17, 1030);
	sporadic_charge(&there, 17, 730);
	sporadic_shift(&there, 300);
	CHECK(!memcmp(&m, &there, sizeof(m)));
}

TEST(pibs_figure)
{
	pibs_init(&p, 4, 100, 0);
	pibs_wake(&p, 50, false, 28);
	CHECK(pibs_left(&p) == 2 && pibs_eligible(&p) == 28);
	pibs_dispatch(&p, 28);
	CHECK(pibs_charge(&p, 2) == 0 && pibs_eligible(&p) == 78);
	pibs_block(&p);
	pibs_wake(&p, 50, false, 68);
	CHECK(pibs_eligible(&p) == 78);
}

TEST(pibs_begins_at_its_first_dispatch)
{
	pibs_init(&p, 4, 100, 0);
	pibs_wake(&p, 50, false, 28);
	/* a VCPU of higher priority had the CPU before */
	pibs_dispatch(&p, 33);
	pibs_charge(&p, 1);
	/* a VCPU of higher priority had the CPU in between */
	pibs_dispatch(&p, 40);
	pibs_charge(&p, 1);
	CHECK(pibs_eligible(&p) == 83);
}

TEST(pibs_inherits_the_shortest)
{
	pibs_init(&p, 10, 100, 0);
	pibs_wake(&p, 200, false, 0);
	CHECK(p.inherited == 200 && pibs_left(&p) == 20);
	pibs_wake(&p, 300, true, 0);
	CHECK(p.inherited == 200);
	pibs_dispatch(&p, 0);
	pibs_charge(&p, 3);
	pibs_wake(&p, 50, true, 3);
	CHECK(p.inherited == 50 && pibs_left(&p) == 2);
	pibs_charge(&p, 1);
	/* the budget shrinks to 3, but 4 are used already */
	pibs_wake(&p, 30, true, 4);
	CHECK(p.left == 0 && pibs_eligible(&p) == 40);
	pibs_block(&p);
	/* the period of the requester is not known */
	pibs_wake(&p, 0, false, 50);
	CHECK(p.inherited == 100 && pibs_eligible(&p) == 50);
}

TEST(pibs_rounds_against_itself)
{
	pibs_init(&p, 1, 3, 0);
	pibs_wake(&p, 2, false, 0);
	CHECK(pibs_left(&p) == 1);			/* never less than one unit */
	pibs_init(&p, 3, 7, 0);
	pibs_wake(&p, 7, false, 0);
	pibs_dispatch(&p, 0);
	pibs_charge(&p, 1);
	pibs_block(&p);
	CHECK(pibs_eligible(&p) == 3);			/* 7 / 3 */
}

TEST(vcpu_shift_is_for_both)
{
	struct vcpu v = { .params.type = IO_VCPU };

	pibs_init(&v.io, 1, 10, 100);
	vcpu_shift(&v, 50);
	CHECK(v.io.eligible == 150 && v.counts.created == 50);
}
