// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of VCPUs and their entities together. unit_admit.c tests creating and changing VCPUs.
 * unit_servers.c tests the servers' rules. test_sched_properties.py and test_sched_model.py do long
 * runs.
 */
#include <string.h>
#include "sched_fixture.h"

TEST(sched_idle_without_vcpus)
{
	set_up(true);
	CHECK(chosen(NULL, SCHED_NEVER, 5));
	CHECK(chosen(NULL, SCHED_NEVER, 15) && s.idle == 15);
}

TEST(sched_budget_and_background)
{
	set_up(true);
	CHECK(vcpu(MAIN_VCPU, 20, 100, 0) == 0);
	sched_bind(&s, &a, 0, 0);
	sched_ready(&s, &a, 0);
	sched_ready(&s, &a, 0);			/* a second call changes nothing */
	CHECK(chosen(&a, 20, 0));
	/* the only entity in the background needs no quantum */
	CHECK(chosen(&a, 100, 20));
	CHECK(chosen(&a, 120, 100));
	CHECK(s.vcpus[0].counts.used == 20 && s.vcpus[0].counts.background == 80);
	CHECK(s.vcpus[0].counts.depleted == 1 && !s.vcpus[0].counts.overruns);
	sched_block(&s, &a, 105);
	sched_block(&s, &a, 105);
	CHECK(chosen(NULL, SCHED_NEVER, 105));
	CHECK(a.used == 105 && sched_used(&s, &a, 200) == 105);
}

TEST(sched_without_background)
{
	set_up(false);
	vcpu(MAIN_VCPU, 20, 100, 0);
	sched_bind(&s, &a, 0, 0);
	sched_ready(&s, &a, 0);
	CHECK(chosen(&a, 20, 0));
	CHECK(chosen(NULL, 100, 20));
	CHECK(chosen(&a, 120, 100) && s.idle == 80);
}

TEST(sched_shorter_period_first)
{
	set_up(true);
	vcpu(MAIN_VCPU, 20, 100, 0);
	vcpu(MAIN_VCPU, 10, 50, 0);
	vcpu(MAIN_VCPU, 1, 1000, 0);
	sched_bind(&s, &a, 0, 0);
	sched_bind(&s, &b, 1, 0);
	sched_bind(&s, &c, 2, 0);
	sched_ready(&s, &a, 0);
	sched_ready(&s, &b, 0);
	sched_ready(&s, &c, 0);
	CHECK(chosen(&b, 10, 0));
	CHECK(chosen(&a, 30, 10));
	CHECK(chosen(&c, 31, 30));
	CHECK(chosen(&a, 41, 31));		/* in the background the entities run round-robin */
	CHECK(chosen(&b, 50, 41));
	CHECK(chosen(&b, 60, 50));
	sched_block(&s, &b, 55);
	CHECK(chosen(&c, 64, 55));		/* the entity gets the rest of its quantum */
	/* c has a lower priority than a, so its replenishment at 1000 does not limit a */
	CHECK(chosen(&a, 120, 100));
}

/* A replenishment of a lower VCPU does not interrupt a higher one. */
/*
 * If periods are equal, an I/O VCPU precedes a Main VCPU, and then the lower id comes first. The
 * order of wake-up does not matter.
 */
TEST(sched_equal_periods)
{
	set_up(false);
	CHECK(vcpu(MAIN_VCPU, 20, 100, 0) == 0 && vcpu(IO_VCPU, 10, 100, 0) == 1 &&
	      vcpu(MAIN_VCPU, 20, 100, 0) == 2);
	sched_bind(&s, &a, 0, 0);
	sched_bind(&s, &b, 1, 0);
	sched_bind(&s, &c, 2, 0);
	sched_ready(&s, &c, 0);
	sched_ready(&s, &a, 0);
	sched_ready(&s, &b, 0);
	CHECK(chosen(&b, 10, 0));
	CHECK(chosen(&a, 30, 10));
	CHECK(chosen(&c, 50, 30));
	CHECK(chosen(NULL, 100, 50));
}

TEST(sched_until_ignores_lower_priority)
{
	set_up(true);
	vcpu(MAIN_VCPU, 50, 100, 0);
	vcpu(MAIN_VCPU, 5, 200, 0);
	sched_bind(&s, &a, 0, 0);
	sched_bind(&s, &b, 1, 0);
	sched_ready(&s, &b, 0);
	CHECK(chosen(&b, 5, 0));
	CHECK(chosen(&b, 200, 5));
	sched_ready(&s, &a, 180);
	CHECK(chosen(&a, 230, 180));		/* not 200 */
	CHECK(chosen(&b, 235, 230));
}

TEST(sched_threads_of_a_vcpu_run_round_robin)
{
	set_up(true);
	vcpu(MAIN_VCPU, 50, 100, 0);
	sched_bind(&s, &a, 0, 0);
	sched_bind(&s, &b, 0, 0);
	sched_ready(&s, &a, 0);
	sched_ready(&s, &b, 0);
	CHECK(chosen(&a, 10, 0));
	CHECK(chosen(&a, 10, 4));
	CHECK(chosen(&b, 20, 10));
	CHECK(chosen(&a, 30, 20));
	sched_block(&s, &a, 25);
	/* the only entity of its VCPU runs until the budget ends */
	CHECK(chosen(&b, 50, 25));
	CHECK(chosen(&b, 100, 50));
	CHECK(a.used == 15 && b.used == 35);
}

TEST(sched_bind_moves)
{
	set_up(true);
	vcpu(MAIN_VCPU, 50, 100, 0);
	vcpu(MAIN_VCPU, 10, 50, 0);
	sched_bind(&s, &a, 0, 0);
	sched_ready(&s, &a, 0);
	CHECK(chosen(&a, 50, 0));
	CHECK(sched_bind(&s, &a, 7, 10) == SCHED_NO_VCPU &&
	      sched_bind(&s, &a, -1, 10) == SCHED_NO_VCPU);
	CHECK(sched_vcpu_destroy(&s, 0, 10) == SCHED_IN_USE);
	CHECK(sched_bind(&s, &a, 1, 10) == 0 && s.current == &a);
	CHECK(chosen(&a, 20, 10));
	CHECK(s.vcpus[0].counts.used == 10 && !s.vcpus[0].bound && s.vcpus[1].bound == 1);
	CHECK(sched_vcpu_destroy(&s, 0, 10) == 0 && !sched_vcpu(&s, 0));
	sched_unbind(&s, &a, 12);
	CHECK(chosen(NULL, SCHED_NEVER, 12) && s.vcpus[1].counts.used == 2);
}

/*
 * An interrupt handler is charged to the I/O VCPU that it wakes. That VCPU then runs at once, with
 * the rest of its budget.
 */
TEST(sched_interrupts_are_charged)
{
	set_up(true);
	vcpu(MAIN_VCPU, 50, 100, 0);
	vcpu(IO_VCPU, 1, 10, 0);
	sched_bind(&s, &a, 0, 0);
	sched_bind(&s, &b, 1, 0);
	sched_ready(&s, &a, 0);
	CHECK(chosen(&a, 50, 0));
	sched_ready_for(&s, &b, 100, 20);	/* the interrupt came at 20 */
	sched_charge_for(&s, 1, 20, 24);	/* the handler of that interrupt took 4 */
	CHECK(s.vcpus[0].counts.used == 20 && s.vcpus[1].counts.used == 4 && a.used == 20);
	CHECK(s.vcpus[1].counts.interrupts == 1 && s.vcpus[1].counts.interrupt_time == 4);
	CHECK(chosen(&b, 30, 24));		/* 6 are left of 10 % of a's period */
	sched_charge_for(&s, 1, 25, 27);	/* another interrupt comes while b runs */
	CHECK(s.vcpus[1].counts.used == 7 && s.vcpus[1].counts.interrupts == 2 &&
	      s.vcpus[1].counts.interrupt_time == 6);
	CHECK(chosen(&b, 30, 27));
	sched_block(&s, &b, 28);
	CHECK(vcpu_eligible(&s.vcpus[1]) == 100);	/* 20 + 8 / 10 % */
	CHECK(chosen(&a, 58, 28));
}

/* A VCPU without budget waits, and each handler makes its wait longer. */
TEST(sched_interrupts_without_budget)
{
	set_up(false);
	vcpu(IO_VCPU, 1, 10, 0);
	sched_bind(&s, &b, 0, 0);
	sched_ready_for(&s, &b, 100, 20);
	sched_charge_for(&s, 0, 20, 30);	/* the VCPU uses all of its budget */
	CHECK(chosen(NULL, 120, 30));		/* 20 + 10 / 10 % */
	sched_charge_for(&s, 0, 40, 43);
	CHECK(chosen(NULL, 150, 43));		/* and 3 / 10 % */
	CHECK(chosen(&b, 160, 150));
}

/*
 * If the handler wakes no thread, the current budget ends with it, and no earlier budget is used.
 */
TEST(sched_interrupts_while_it_sleeps)
{
	set_up(false);
	vcpu(IO_VCPU, 1, 10, 0);
	vcpu(MAIN_VCPU, 50, 100, 0);
	sched_bind(&s, &b, 0, 0);
	sched_charge_for(&s, 0, 200, 204);
	CHECK(vcpu_eligible(&s.vcpus[0]) == 240 && !s.vcpus[0].io.left);
	sched_charge_for(&s, 1, 300, 310);
	CHECK(vcpu_eligible(&s.vcpus[1]) == 300 && s.vcpus[1].main.length == 2 &&
	      s.vcpus[1].main.queue[1].at == 400);
}

TEST(sched_rejects_wrong_parameters)
{
	int error;

	set_up(true);
	CHECK(vcpu(MAIN_VCPU, 0, 10, 0) == SCHED_BAD_PARAMS);
	CHECK(vcpu(MAIN_VCPU, 11, 10, 0) == SCHED_BAD_PARAMS);
	CHECK(vcpu(IO_VCPU, 10, 10, 0) == SCHED_BAD_PARAMS);
	CHECK(vcpu(MAIN_VCPU, 1, ADMISSION_PERIOD_MAX + 1, 0) == SCHED_BAD_PARAMS);
	CHECK(vcpu((enum vcpu_type)3, 1, 10, 0) == SCHED_BAD_PARAMS);
	CHECK(vcpu(BACKGROUND_VCPU, 1, 10, 0) == SCHED_BAD_PARAMS &&
	      vcpu(BACKGROUND_VCPU, 0, 10, 0) == SCHED_BAD_PARAMS);
	CHECK(vcpu(MAIN_VCPU, 10, 10, 0) == 0);
	CHECK(vcpu(MAIN_VCPU, 1, 10, 0) == SCHED_OVER_BOUND);
	s.config.admission = ADMISSION_EXACT;
	CHECK(vcpu(MAIN_VCPU, 1, 10, 0) == SCHED_MISSES_PERIOD);
	for (error = SCHED_NOT_YET; error < 0; error++)
		CHECK(strlen(sched_error_text(error)) > 20);
	CHECK(!strcmp(sched_error_text(0), "") && !strcmp(sched_error_text(-100), ""));
}

/*
 * A running thread that moves to a VCPU without budget is charged to no budget. It does not change
 * that VCPU, even if it moves often.
 */
TEST(sched_bind_to_vcpu_without_budget_charges_none)
{
	uint64_t now;
	int id;

	set_up(false);
	CHECK(vcpu(MAIN_VCPU, 20, 100, 0) == 0 && vcpu(IO_VCPU, 1, 10, 0) == 1);
	id = vcpu(MAIN_VCPU, 40, 100, 0);
	use_up(id, 0, 40);
	id = vcpu(MAIN_VCPU, 40, 100, 40);
	CHECK(vcpu_eligible(&s.vcpus[id]) == 100);
	for (now = 40; now < 60; now += 2) {
		sched_bind(&s, &b, 0, now);
		sched_ready(&s, &b, now);
		CHECK(sched_decide(&s, now).entity == &b);
		CHECK(sched_bind(&s, &b, id, now) == 0);
		sched_unbind(&s, &b, now + 1);
	}
	CHECK(vcpu_eligible(&s.vcpus[id]) == 100 && !s.vcpus[id].counts.used &&
	      s.vcpus[id].counts.background == 10);
	CHECK(sched_vcpu_destroy(&s, id, 60) == 0 && s.vcpus[id].state == VCPU_FREE);
	/* a VCPU with budget is dispatched by the move: 1 of 1 is used, without an overrun */
	sched_bind(&s, &b, 0, 100);
	sched_ready(&s, &b, 100);
	CHECK(sched_decide(&s, 100).entity == &b && sched_bind(&s, &b, 1, 101) == 0);
	sched_charge(&s, 102);
	CHECK(s.vcpus[1].counts.used == 1 && !s.vcpus[1].counts.overruns &&
	      vcpu_eligible(&s.vcpus[1]) == 111);
}

/*
 * A VCPU without a budget is always admitted. It runs when no VCPU with budget is runnable, and
 * nothing is charged to a budget.
 */
TEST(sched_without_budget)
{
	const struct vcpu_params none = { "n", BACKGROUND_VCPU, 0, 0, 0 };
	const struct vcpu_params some = { "s", MAIN_VCPU, 50, 100, 0 };

	set_up(true);
	CHECK(vcpu(MAIN_VCPU, 50, 100, 0) == 0 && vcpu(BACKGROUND_VCPU, 0, 0, 0) == 1 &&
	      vcpu(BACKGROUND_VCPU, 0, 0, 0) == 2);
	sched_bind(&s, &a, 0, 0);
	sched_bind(&s, &b, 1, 0);
	sched_ready(&s, &b, 0);
	CHECK(chosen(&b, SCHED_NEVER, 0));
	sched_ready(&s, &a, 5);
	CHECK(chosen(&a, 55, 5));
	/* each runs to the end of its quantum, in the background, too */
	CHECK(chosen(&b, 60, 55));
	CHECK(s.vcpus[1].counts.background == 5 && !s.vcpus[1].counts.used &&
	      vcpu_left(&s.vcpus[1], 55) == 0);
	sched_charge_for(&s, 1, 56, 58);
	CHECK(sched_vcpu_set(&s, 1, &some, 60) == SCHED_OVER_BOUND);
	CHECK(sched_vcpu_set(&s, 0, &none, 60) == 0 && s.vcpus[0].settled == 105);
	CHECK(sched_vcpu_set(&s, 1, &some, 60) == 0);
	/* VCPU 1 begins when the use of VCPU 0 is replenished */
	CHECK(vcpu_eligible(&s.vcpus[1]) == 105 && s.vcpus[1].main.limit == SPORADIC_MAX);
	sched_unbind(&s, &b, 60);
	CHECK(sched_vcpu_destroy(&s, 1, 60) == 0 && sched_vcpu_destroy(&s, 2, 60) == 0 &&
	      s.vcpus[2].state == VCPU_FREE);
}
