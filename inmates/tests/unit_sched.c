// SPDX-License-Identifier: GPL-2.0-only
#include "../quest/kernel/timerq.h"
#include "../quest/sched/sched.h"
#include "unit.h"

#define QUANTUM	100

static struct sched s;
static struct sched_entity a, b, c;

static void set_up(unsigned int pa, unsigned int pb, unsigned int pc)
{
	sched_init(&s, QUANTUM);
	sched_entity_init(&s, &a, pa);
	sched_entity_init(&s, &b, pb);
	sched_entity_init(&s, &c, pc);
}

TEST(sched_nobody)
{
	struct sched_choice choice;

	set_up(1, 1, 1);
	choice = sched_pick(&s, 5);
	CHECK(!choice.entity && choice.until == SCHED_NEVER);
}

TEST(sched_one_needs_no_clock)
{
	struct sched_choice choice;

	set_up(1, 2, 3);
	sched_ready(&s, &b, 0);
	choice = sched_pick(&s, 5);
	CHECK(choice.entity == &b && choice.until == SCHED_NEVER);
	sched_charge(&s, &b, 10 * QUANTUM);
	CHECK(sched_pick(&s, 5).entity == &b && b.used == 10 * QUANTUM);
}

TEST(sched_higher_goes_first)
{
	set_up(1, 2, 2);
	sched_ready(&s, &b, 0);
	sched_ready(&s, &a, 0);
	CHECK(sched_pick(&s, 0).entity == &a);
	CHECK(sched_pick(&s, 0).until == SCHED_NEVER);
	sched_block(&s, &a, 0);
	CHECK(sched_pick(&s, 0).entity == &b);
}

TEST(sched_equals_take_turns)
{
	struct sched_choice choice;

	set_up(2, 2, 2);
	sched_ready(&s, &a, 0);
	sched_ready(&s, &b, 0);
	sched_ready(&s, &c, 0);
	choice = sched_pick(&s, 1000);
	CHECK(choice.entity == &a && choice.until == 1000 + QUANTUM);
	sched_charge(&s, &a, 40);
	choice = sched_pick(&s, 1040);
	CHECK(choice.entity == &a && choice.until == 1040 + 60);
	sched_charge(&s, &a, 60);
	CHECK(sched_pick(&s, 1100).entity == &b);
	sched_charge(&s, &b, QUANTUM);
	CHECK(sched_pick(&s, 1200).entity == &c);
	sched_charge(&s, &c, QUANTUM + 7);
	CHECK(sched_pick(&s, 1307).entity == &a && a.used == QUANTUM);
}

TEST(sched_block_from_the_middle)
{
	set_up(2, 2, 2);
	sched_ready(&s, &a, 0);
	sched_ready(&s, &b, 0);
	sched_ready(&s, &c, 0);
	sched_ready(&s, &b, 0);		/* twice is once */
	sched_block(&s, &b, 0);
	sched_block(&s, &b, 0);
	CHECK(sched_pick(&s, 0).entity == &a);
	sched_charge(&s, &a, QUANTUM);
	CHECK(sched_pick(&s, 0).entity == &c);
	sched_block(&s, &c, 0);
	sched_block(&s, &a, 0);
	CHECK(!sched_pick(&s, 0).entity);
}

TEST(sched_priority_is_limited)
{
	set_up(1000, 1, 1);
	CHECK(a.priority == SCHED_PRIORITIES - 1);
	sched_ready(&s, &a, 0);
	CHECK(sched_pick(&s, 0).entity == &a);
}

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
