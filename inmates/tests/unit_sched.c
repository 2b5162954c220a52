// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of VCPUs and their entities together. unit_servers.c tests the servers' rules;
 * test_sched_properties.py and test_sched_model.py do long runs.
 */
#include <string.h>
#include "../quest/sched/sched.h"
#include "unit.h"

#define QUANTUM	10

static struct sched s;
static struct sched_entity a, b, c;

static void set_up(bool background)
{
	const struct sched_config config = { .quantum = QUANTUM, .background = background };

	sched_init(&s, &config, 0);
	sched_entity_init(&a);
	sched_entity_init(&b);
	sched_entity_init(&c);
}

static int vcpu_of(int owner, enum vcpu_type type, uint64_t budget, uint64_t period, uint64_t now)
{
	const struct vcpu_params params = { "v", type, budget, period, owner };

	return sched_vcpu_create(&s, &params, now);
}

static int vcpu(enum vcpu_type type, uint64_t budget, uint64_t period, uint64_t now)
{
	return vcpu_of(0, type, budget, period, now);
}

static bool chosen(const struct sched_entity *e, uint64_t until, uint64_t now)
{
	struct sched_choice choice = sched_decide(&s, now);

	if (choice.entity == e && choice.until == until)
		return true;
	printf("at %lu: %s until %ld\n", now, choice.entity == &a ? "a" : choice.entity == &b ? "b" :
	       choice.entity == &c ? "c" : "nobody", (long)choice.until);
	return false;
}

TEST(sched_nobody)
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
	CHECK(chosen(&a, 100, 20));		/* alone in the background: no quantum */
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
	CHECK(chosen(&a, 41, 31));		/* background, round-robin */
	CHECK(chosen(&b, 50, 41));
	CHECK(chosen(&b, 60, 50));
	sched_block(&s, &b, 55);
	CHECK(chosen(&c, 64, 55));		/* the rest of its quantum */
	/* c has no budget before 1000 and is below a: a's timer is not set for it */
	CHECK(chosen(&a, 120, 100));
}

/* A replenishment of a lower VCPU does not interrupt a higher one. */
/*
 * On equal periods: an I/O VCPU before a Main VCPU, then the lower id; the order of wake-up does
 * not matter.
 */
TEST(sched_equal_periods)
{
	set_up(false);
	CHECK(vcpu(MAIN_VCPU, 20, 100, 0) == 0 && vcpu(IO_VCPU, 10, 100, 0) == 1 && vcpu(MAIN_VCPU, 20, 100, 0) == 2);
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

TEST(sched_until_looks_up_only)
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

TEST(sched_threads_take_turns_on_their_vcpu)
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
	CHECK(chosen(&b, 50, 25));		/* alone: until the budget ends */
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
	CHECK(sched_bind(&s, &a, 7, 10) == SCHED_NO_VCPU && sched_bind(&s, &a, -1, 10) == SCHED_NO_VCPU);
	CHECK(sched_vcpu_destroy(&s, 0, 10) == SCHED_IN_USE);
	CHECK(sched_bind(&s, &a, 1, 10) == 0 && s.current == &a);
	CHECK(chosen(&a, 20, 10));
	CHECK(s.vcpus[0].counts.used == 10 && !s.vcpus[0].bound && s.vcpus[1].bound == 1);
	CHECK(sched_vcpu_destroy(&s, 0, 10) == 0 && !sched_vcpu(&s, 0));
	sched_unbind(&s, &a, 12);
	CHECK(chosen(NULL, SCHED_NEVER, 12) && s.vcpus[1].counts.used == 2);
}

/*
 * An interrupt handler is charged to the I/O VCPU that it wakes, which continues at once with the
 * rest of its budget.
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
	sched_charge_for(&s, 1, 20, 24);	/* and its handler took 4 */
	CHECK(s.vcpus[0].counts.used == 20 && s.vcpus[1].counts.used == 4 && a.used == 20);
	CHECK(s.vcpus[1].counts.interrupts == 1 && s.vcpus[1].counts.interrupt_time == 4);
	CHECK(chosen(&b, 30, 24));		/* 6 are left of 10 % of a's period */
	sched_charge_for(&s, 1, 25, 27);	/* another interrupt, while b runs */
	CHECK(s.vcpus[1].counts.used == 7 && s.vcpus[1].counts.interrupts == 2 && s.vcpus[1].counts.interrupt_time == 6);
	CHECK(chosen(&b, 30, 27));
	sched_block(&s, &b, 28);
	CHECK(vcpu_eligible(&s.vcpus[1]) == 100);	/* 20 + 8 / 10 % */
	CHECK(chosen(&a, 58, 28));
}

/* Without budget the VCPU waits, and the handler makes the wait longer; with budget it does not. */
TEST(sched_interrupts_without_budget)
{
	set_up(false);
	vcpu(IO_VCPU, 1, 10, 0);
	sched_bind(&s, &b, 0, 0);
	sched_ready_for(&s, &b, 100, 20);
	sched_charge_for(&s, 0, 20, 30);	/* all of its budget */
	CHECK(chosen(NULL, 120, 30));		/* 20 + 10 / 10 % */
	sched_charge_for(&s, 0, 40, 43);
	CHECK(chosen(NULL, 150, 43));		/* and 3 / 10 % */
	CHECK(chosen(&b, 160, 150));
}

/* The handler wakes no thread: no current budget remains, and no earlier budget is used. */
TEST(sched_interrupts_while_it_sleeps)
{
	set_up(false);
	vcpu(IO_VCPU, 1, 10, 0);
	vcpu(MAIN_VCPU, 50, 100, 0);
	sched_bind(&s, &b, 0, 0);
	sched_charge_for(&s, 0, 200, 204);
	CHECK(vcpu_eligible(&s.vcpus[0]) == 240 && !s.vcpus[0].io.left);
	sched_charge_for(&s, 1, 300, 310);
	CHECK(vcpu_eligible(&s.vcpus[1]) == 300 && s.vcpus[1].main.length == 2 && s.vcpus[1].main.queue[1].at == 400);
}

/* Destroying a VCPU and creating it again gains nothing. */
TEST(sched_no_budget_by_birth)
{
	uint64_t now = 0, used = 0;
	int id, i;

	set_up(false);
	for (i = 0; i < 50; i++) {
		id = vcpu(MAIN_VCPU, 60, 100, now);
		CHECK(id >= 0);
		sched_entity_init(&a);
		sched_bind(&s, &a, id, now);
		sched_ready(&s, &a, now);
		if (sched_decide(&s, now).entity)
			now += 60;
		else
			now += 10;
		sched_unbind(&s, &a, now);
		used += s.vcpus[id].counts.used;
		CHECK(used <= 60 * (now / 100 + 1));
		CHECK(sched_vcpu_destroy(&s, id, now) == 0);
	}
	CHECK(used > 200);
}

/* A destroyed VCPU delays others by its use, not by all that it could have used. */
TEST(sched_the_dead_take_no_more_than_they_had)
{
	int i;

	set_up(false);
	CHECK(vcpu(MAIN_VCPU, 60, 1000000, 0) == 0);
	CHECK(sched_vcpu_set(&s, 0, &(struct vcpu_params){ "long", MAIN_VCPU, 600000, 1000000, 0 }, 0) == 0);
	sched_bind(&s, &a, 0, 0);
	sched_ready(&s, &a, 0);
	sched_decide(&s, 0);
	sched_unbind(&s, &a, 10);
	CHECK(sched_vcpu_destroy(&s, 0, 10) == 0 && s.vcpus[0].settled == 1000000);
	CHECK(s.vcpus[0].past.budget == 10);
	for (i = 1; i < 4; i++) {
		CHECK(vcpu(MAIN_VCPU, 20, 100, 10) == i);
		CHECK(s.vcpus[i].main.queue[0].at == 10);
	}
}

TEST(sched_set_forgets_nothing)
{
	struct vcpu_params more = { "more", MAIN_VCPU, 40, 100, 0 };

	set_up(false);
	CHECK(vcpu(MAIN_VCPU, 20, 100, 0) == 0);
	sched_bind(&s, &a, 0, 0);
	sched_ready(&s, &a, 0);
	CHECK(chosen(&a, 20, 0));
	CHECK(sched_vcpu_set(&s, 0, &more, 15) == 0);
	CHECK(chosen(NULL, 100, 15));
	CHECK(chosen(&a, 140, 100));
	more.type = IO_VCPU;
	CHECK(sched_vcpu_set(&s, 0, &more, 100) == SCHED_BAD_PARAMS);
	more.type = MAIN_VCPU;
	more.budget = 101;
	CHECK(sched_vcpu_set(&s, 0, &more, 100) == SCHED_BAD_PARAMS);
	CHECK(sched_vcpu_set(&s, 1, &more, 100) == SCHED_NO_VCPU && sched_vcpu_set(&s, -1, &more, 100) == SCHED_NO_VCPU);
	CHECK(sched_vcpu_destroy(&s, -1, 100) == SCHED_NO_VCPU && sched_vcpu_destroy(&s, SCHED_VCPUS, 100) == SCHED_NO_VCPU);
	CHECK(!strcmp(s.vcpus[0].params.name, "more"));
}

/*
 * An owner gains nothing by making a VCPU smaller before it creates another one: two VCPUs that are
 * not admitted together never run together.
 */
TEST(sched_set_hides_nothing)
{
	struct vcpu_params small = { "small", MAIN_VCPU, 1, 100, 0 };
	int round, id;

	for (round = 0; round < 3; round++) {	/* changed once, twice, and then destroyed */
		set_up(false);
		CHECK(vcpu(MAIN_VCPU, 50, 100, 0) == 0);
		sched_bind(&s, &a, 0, 0);
		sched_ready(&s, &a, 0);
		CHECK(chosen(&a, 50, 0));
		CHECK(sched_vcpu_set(&s, 0, &small, 50) == 0);
		if (round)
			CHECK(sched_vcpu_set(&s, 0, &small, 50) == 0);
		sched_unbind(&s, &a, 50);
		if (round == 2)
			CHECK(sched_vcpu_destroy(&s, 0, 50) == 0);
		CHECK(vcpu(MAIN_VCPU, 50, 100, 50) == 1);
		CHECK(vcpu_eligible(&s.vcpus[1]) == 100);
		CHECK(sched_vcpu_destroy(&s, 1, 50) == 0);
		id = vcpu(MAIN_VCPU, 50, 100, 100);		/* everything is replenished */
		CHECK(id >= 0 && vcpu_eligible(&s.vcpus[id]) == 100);
	}
}

/* During an admission test other VCPUs may run and be destroyed. */
TEST(sched_admission_allows_calls_in_between)
{
	struct vcpu_params more = { "more", MAIN_VCPU, 60, 100, 0 };

	set_up(false);
	CHECK(vcpu(MAIN_VCPU, 20, 100, 0) == 0 && vcpu(MAIN_VCPU, 30, 100, 1) == 1);
	sched_admission_begin(&s, &more, -1, 10);
	CHECK(sched_vcpu_destroy(&s, 0, 11) == 0);		/* too late: it still counts */
	sched_admission_test(&s);
	CHECK(sched_admission_commit(&s, 12) == SCHED_OVER_BOUND && !sched_vcpu(&s, 2));
	more.budget = 10;
	sched_admission_begin(&s, &more, 1, 20);
	sched_admission_test(&s);
	CHECK(sched_vcpu_destroy(&s, 1, 21) == 0);
	CHECK(sched_admission_commit(&s, 22) == SCHED_NO_VCPU);
	CHECK(vcpu(MAIN_VCPU, 30, 100, 30) == 0 && vcpu(MAIN_VCPU, 30, 100, 31) == 1);
	sched_admission_begin(&s, &more, 1, 40);
	sched_admission_test(&s);
	s.vcpus[1].counts.created++;				/* another VCPU with the same id */
	CHECK(sched_admission_commit(&s, 41) == SCHED_NO_VCPU && s.vcpus[1].params.budget == 30);
	CHECK(sched_vcpu_set(&s, 1, &more, 50) == 0 && s.vcpus[1].params.budget == 10);
}

/*
 * A VCPU cannot grow before the use of a destroyed VCPU is replenished, if both are not admitted
 * together.
 */
TEST(sched_set_waits_for_the_dead)
{
	const struct vcpu_params larger = { "v", MAIN_VCPU, 60, 100, 0 };

	set_up(false);
	CHECK(vcpu(MAIN_VCPU, 60, 100, 0) == 0 && vcpu(MAIN_VCPU, 10, 100, 0) == 1);
	sched_bind(&s, &a, 0, 0);
	sched_ready(&s, &a, 0);
	CHECK(chosen(&a, 60, 0));
	sched_unbind(&s, &a, 60);
	CHECK(sched_vcpu_destroy(&s, 0, 60) == 0);
	CHECK(sched_vcpu_set(&s, 1, &larger, 60) == 0);
	CHECK(vcpu_eligible(&s.vcpus[1]) == 100);
}

/*
 * An I/O VCPU's use counts from the moment it is changed, in the middle of its budget too: t_e = 0
 * + 10 / 40 %.
 */
TEST(sched_set_remembers_io)
{
	const struct vcpu_params smaller = { "v", IO_VCPU, 10, 100, 0 };

	set_up(false);
	CHECK(vcpu(IO_VCPU, 40, 100, 0) == 0);
	sched_bind(&s, &a, 0, 0);
	sched_ready(&s, &a, 0);
	CHECK(chosen(&a, 40, 0));
	CHECK(sched_vcpu_set(&s, 0, &smaller, 10) == 0);
	CHECK(s.vcpus[0].settled == 25);
}

TEST(sched_refuses_nonsense)
{
	int error;

	set_up(true);
	CHECK(vcpu(MAIN_VCPU, 0, 10, 0) == SCHED_BAD_PARAMS);
	CHECK(vcpu(MAIN_VCPU, 11, 10, 0) == SCHED_BAD_PARAMS);
	CHECK(vcpu(IO_VCPU, 10, 10, 0) == SCHED_BAD_PARAMS);
	CHECK(vcpu(MAIN_VCPU, 1, ADMISSION_PERIOD_MAX + 1, 0) == SCHED_BAD_PARAMS);
	CHECK(vcpu((enum vcpu_type)3, 1, 10, 0) == SCHED_BAD_PARAMS);
	CHECK(vcpu(BACKGROUND_VCPU, 1, 10, 0) == SCHED_BAD_PARAMS && vcpu(BACKGROUND_VCPU, 0, 10, 0) == SCHED_BAD_PARAMS);
	CHECK(vcpu(MAIN_VCPU, 10, 10, 0) == 0);
	CHECK(vcpu(MAIN_VCPU, 1, 10, 0) == SCHED_OVER_BOUND);
	s.config.admission = ADMISSION_EXACT;
	CHECK(vcpu(MAIN_VCPU, 1, 10, 0) == SCHED_MISSES_PERIOD);
	for (error = SCHED_NOT_YET; error < 0; error++)
		CHECK(strlen(sched_error_text(error)) > 20);
	CHECK(!strcmp(sched_error_text(0), "") && !strcmp(sched_error_text(-100), ""));
}

TEST(sched_all_256)
{
	int i;

	set_up(true);
	for (i = 0; i < SCHED_VCPUS; i++)
		CHECK(vcpu(MAIN_VCPU, 1, 1000 + i, 0) == i);
	CHECK(vcpu(MAIN_VCPU, 1, 1000, 0) == SCHED_FULL);
	CHECK(sched_vcpu_destroy(&s, 77, 0) == 0 && sched_vcpu_destroy(&s, 77, 0) == SCHED_NO_VCPU);
	CHECK(vcpu(MAIN_VCPU, 1, 1000, 0) == 77);
}

/* Lets VCPU `id` use its budget from `now` to `end`, and destroys it. */
static void use_up(int id, uint64_t now, uint64_t end)
{
	sched_bind(&s, &a, id, now);
	sched_ready(&s, &a, now);
	CHECK(sched_decide(&s, now).entity == &a);
	sched_unbind(&s, &a, end);
	CHECK(sched_vcpu_destroy(&s, id, end) == 0);
}

/*
 * If all slots hold destroyed VCPUs that are remembered, a new VCPU takes the slot of a VCPU that
 * does not count.
 */
TEST(sched_ids_of_the_dead)
{
	int i;

	set_up(false);
	for (i = 0; i < SCHED_VCPUS; i++) {
		CHECK(vcpu(MAIN_VCPU, 1, 1000, i) == i);
		use_up(i, i, i + 1);
		CHECK(s.vcpus[i].state == VCPU_RETIRED);
	}
	CHECK(sched_count_owned(&s, 0, SCHED_VCPUS) == SCHED_VCPUS);
	CHECK(sched_count_owned(&s, 1, SCHED_VCPUS) == 0);
	CHECK(vcpu(MAIN_VCPU, 1, 100, SCHED_VCPUS) == 0);
	CHECK(vcpu_eligible(&s.vcpus[0]) == SCHED_VCPUS);
	CHECK(sched_count_owned(&s, 0, SCHED_VCPUS) == SCHED_VCPUS);
	/* with a VCPU of that period, they count */
	CHECK(vcpu(MAIN_VCPU, 1, 1000, SCHED_VCPUS) == 1);
	CHECK(vcpu(MAIN_VCPU, 1, 1000, SCHED_VCPUS) == SCHED_FULL);
	CHECK(sched_count_owned(&s, 0, 1000 + SCHED_VCPUS) == 2);
}

/*
 * Destroyed VCPUs count by their use, not by their number; those of a longer period than all
 * existing ones do not count.
 */
TEST(sched_the_dead_weigh_what_they_used)
{
	int i;

	set_up(false);
	CHECK(vcpu(MAIN_VCPU, 27, 100, 0) == 0 && vcpu(MAIN_VCPU, 1, 100000, 0) == 1 && vcpu(MAIN_VCPU, 22, 100, 0) == 2);
	for (i = 0; i < 16; i++)
		use_up(vcpu_of(1, MAIN_VCPU, 1, 50000, i), i, i + 1);
	use_up(vcpu_of(1, MAIN_VCPU, 10000, 1000000, 20), 20, 10020);
	CHECK(sched_count_owned(&s, 1, 10020) == 17);
	i = vcpu(MAIN_VCPU, 26, 100, 10020);
	CHECK(i >= 0 && vcpu_eligible(&s.vcpus[i]) == 10020);
}

/*
 * The use of one owner does not delay another owner, whose VCPU is rejected instead. The heir of
 * the use waits.
 */
TEST(sched_owners)
{
	const struct vcpu_params larger = { "v", MAIN_VCPU, 50, 100, 9 };
	int id;

	set_up(false);
	CHECK(vcpu(MAIN_VCPU, 5, 100, 0) == 0 && vcpu(MAIN_VCPU, 1, 100, 0) == 1);
	use_up(vcpu_of(1, MAIN_VCPU, 50, 100, 0), 0, 50);
	CHECK(vcpu_of(2, MAIN_VCPU, 50, 100, 60) == SCHED_NOT_YET);
	CHECK(sched_vcpu_set(&s, 1, &larger, 60) == SCHED_NOT_YET);
	id = vcpu_of(2, MAIN_VCPU, 10, 100, 60);
	CHECK(id >= 0 && vcpu_eligible(&s.vcpus[id]) == 60);
	CHECK(sched_vcpu_destroy(&s, id, 60) == 0);
	id = vcpu_of(1, MAIN_VCPU, 50, 100, 60);
	CHECK(id >= 0 && vcpu_eligible(&s.vcpus[id]) == 100);
	/* it has used nothing, so nothing is remembered */
	CHECK(sched_vcpu_destroy(&s, id, 70) == 0);
	CHECK(sched_count_owned(&s, 1, 70) == 1);
	sched_inherit_past(&s, 1, 2);
	CHECK(sched_count_owned(&s, 1, 70) == 0 && sched_count_owned(&s, 2, 70) == 1);
	id = vcpu_of(2, MAIN_VCPU, 50, 100, 70);
	CHECK(id >= 0 && vcpu_eligible(&s.vcpus[id]) == 100);
	sched_set_owner(&s, id, 3);
	CHECK(sched_count_owned(&s, 3, 70) == 1 && sched_vcpu_destroy(&s, id, 80) == 0);
	id = vcpu_of(3, MAIN_VCPU, 50, 100, 100);
	use_up(id, 100, 150);
	sched_inherit_past(&s, 3, SCHED_NO_OWNER);
	id = vcpu_of(4, MAIN_VCPU, 50, 100, 160);	/* use without an owner delays all */
	CHECK(id >= 0 && vcpu_eligible(&s.vcpus[id]) == 200);
}

/*
 * A new VCPU begins when enough is replenished, not everything, and never later than a period of a
 * destroyed one.
 */
TEST(sched_begins_when_enough_is_back)
{
	int first, second, id;

	set_up(false);
	CHECK(vcpu(MAIN_VCPU, 1, 1000, 0) == 0);
	first = vcpu(MAIN_VCPU, 40, 100, 0);
	second = vcpu(MAIN_VCPU, 200, 1000, 0);
	use_up(second, 0, 200);
	use_up(first, 200, 240);
	id = vcpu(MAIN_VCPU, 40, 100, 240);
	CHECK(id >= 0 && vcpu_eligible(&s.vcpus[id]) == 300);
	CHECK(sched_vcpu_destroy(&s, id, 240) == 0);
	use_up(vcpu(MAIN_VCPU, 40, 100, 300), 300, 500);	/* much too long */
	CHECK(vcpu_eligible(&s.vcpus[vcpu(MAIN_VCPU, 40, 100, 500)]) == 600);
}

/*
 * A running thread that moves to a VCPU without budget is charged to no budget and changes nothing
 * there, however often.
 */
TEST(sched_bind_charges_no_budget_that_is_not_there)
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
	CHECK(vcpu_eligible(&s.vcpus[id]) == 100 && !s.vcpus[id].counts.used && s.vcpus[id].counts.background == 10);
	CHECK(sched_vcpu_destroy(&s, id, 60) == 0 && s.vcpus[id].state == VCPU_FREE);
	/* and a VCPU with budget is dispatched: 1 of 1 is used, not 1 too many */
	sched_bind(&s, &b, 0, 100);
	sched_ready(&s, &b, 100);
	CHECK(sched_decide(&s, 100).entity == &b && sched_bind(&s, &b, 1, 101) == 0);
	sched_charge(&s, 102);
	CHECK(s.vcpus[1].counts.used == 1 && !s.vcpus[1].counts.overruns && vcpu_eligible(&s.vcpus[1]) == 111);
}

/*
 * Without a budget: always admitted, runs when no VCPU with budget is runnable, and is charged
 * nothing.
 */
TEST(sched_without_budget)
{
	const struct vcpu_params none = { "n", BACKGROUND_VCPU, 0, 0, 0 }, some = { "s", MAIN_VCPU, 50, 100, 0 };

	set_up(true);
	CHECK(vcpu(MAIN_VCPU, 50, 100, 0) == 0 && vcpu(BACKGROUND_VCPU, 0, 0, 0) == 1 && vcpu(BACKGROUND_VCPU, 0, 0, 0) == 2);
	sched_bind(&s, &a, 0, 0);
	sched_bind(&s, &b, 1, 0);
	sched_ready(&s, &b, 0);
	CHECK(chosen(&b, SCHED_NEVER, 0));
	sched_ready(&s, &a, 5);
	CHECK(chosen(&a, 55, 5));
	/* the rest of its quantum; then that of a, in the background too */
	CHECK(chosen(&b, 60, 55));
	CHECK(s.vcpus[1].counts.background == 5 && !s.vcpus[1].counts.used && vcpu_left(&s.vcpus[1], 55) == 0);
	sched_charge_for(&s, 1, 56, 58);
	CHECK(sched_vcpu_set(&s, 1, &some, 60) == SCHED_OVER_BOUND);
	CHECK(sched_vcpu_set(&s, 0, &none, 60) == 0 && s.vcpus[0].settled == 105);
	CHECK(sched_vcpu_set(&s, 1, &some, 60) == 0);
	/* VCPU 1 begins when the use of VCPU 0 is replenished */
	CHECK(vcpu_eligible(&s.vcpus[1]) == 105 && s.vcpus[1].main.limit == SPORADIC_MAX);
	sched_unbind(&s, &b, 60);
	CHECK(sched_vcpu_destroy(&s, 1, 60) == 0 && sched_vcpu_destroy(&s, 2, 60) == 0 && s.vcpus[2].state == VCPU_FREE);
}
