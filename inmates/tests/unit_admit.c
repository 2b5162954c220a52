// SPDX-License-Identifier: GPL-2.0-only
/* Tests of creating, changing and destroying VCPUs: admission, past use (sched/past.h), owners. */
#include <string.h>
#include "sched_fixture.h"

/* An owner gains no CPU time by destroying a VCPU and creating it again. */
TEST(sched_recreated_vcpu_gains_no_budget)
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

/* A destroyed VCPU delays other VCPUs by the CPU time that it has used, not by its whole budget. */
TEST(sched_past_use_delays_by_its_amount)
{
	const struct vcpu_params wide = { "long", MAIN_VCPU, 600000, 1000000, 0 };
	int i;

	set_up(false);
	CHECK(vcpu(MAIN_VCPU, 60, 1000000, 0) == 0);
	CHECK(sched_vcpu_set(&s, 0, &wide, 0) == 0);
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

TEST(sched_set_keeps_past_use)
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
	CHECK(sched_vcpu_set(&s, 1, &more, 100) == SCHED_NO_VCPU &&
	      sched_vcpu_set(&s, -1, &more, 100) == SCHED_NO_VCPU);
	CHECK(sched_vcpu_destroy(&s, -1, 100) == SCHED_NO_VCPU &&
	      sched_vcpu_destroy(&s, SCHED_VCPUS, 100) == SCHED_NO_VCPU);
	CHECK(!strcmp(s.vcpus[0].params.name, "more"));
}

/*
 * An owner gains nothing by making a VCPU smaller before it creates another one: two VCPUs that are
 * not admitted together never run together.
 */
TEST(sched_smaller_vcpu_makes_no_room)
{
	struct vcpu_params small = { "small", MAIN_VCPU, 1, 100, 0 };
	int round, id;

	/* the VCPU is changed once, changed twice, and then destroyed */
	for (round = 0; round < 3; round++) {
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
		/* at this time all past use is replenished */
		id = vcpu(MAIN_VCPU, 50, 100, 100);
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
	/* the VCPU is destroyed too late, and still counts in the test */
	CHECK(sched_vcpu_destroy(&s, 0, 11) == 0);
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
TEST(sched_growing_vcpu_waits_for_past_use)
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
 * An I/O VCPU's use counts from the time of its change, even if part of its budget is left: t_e = 0
 * + 10 / 40 %.
 */
TEST(sched_set_keeps_past_use_of_io)
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

/*
 * If the past use of destroyed VCPUs is stored in all slots, a new VCPU takes a slot whose past use
 * does not count.
 */
TEST(sched_ids_of_destroyed_vcpus_are_reused)
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
	/* if a VCPU of that period exists, they count */
	CHECK(vcpu(MAIN_VCPU, 1, 1000, SCHED_VCPUS) == 1);
	CHECK(vcpu(MAIN_VCPU, 1, 1000, SCHED_VCPUS) == SCHED_FULL);
	CHECK(sched_count_owned(&s, 0, 1000 + SCHED_VCPUS) == 2);
}

/*
 * Destroyed VCPUs count by their use, not by their number. A destroyed VCPU does not count if its
 * period is longer than those of all existing VCPUs.
 */
TEST(sched_past_use_counts_by_amount)
{
	int i;

	set_up(false);
	CHECK(vcpu(MAIN_VCPU, 27, 100, 0) == 0 && vcpu(MAIN_VCPU, 1, 100000, 0) == 1 &&
	      vcpu(MAIN_VCPU, 22, 100, 0) == 2);
	for (i = 0; i < 16; i++)
		use_up(vcpu_of(1, MAIN_VCPU, 1, 50000, i), i, i + 1);
	use_up(vcpu_of(1, MAIN_VCPU, 10000, 1000000, 20), 20, 10020);
	CHECK(sched_count_owned(&s, 1, 10020) == 17);
	i = vcpu(MAIN_VCPU, 26, 100, 10020);
	CHECK(i >= 0 && vcpu_eligible(&s.vcpus[i]) == 10020);
}

/*
 * The past use of one owner does not delay the VCPU of another owner: that VCPU is rejected
 * instead. The owner that inherits the past use has to wait.
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
	/* the VCPU has used nothing, so it has no past use */
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
	/* past use without an owner delays all owners */
	id = vcpu_of(4, MAIN_VCPU, 50, 100, 160);
	CHECK(id >= 0 && vcpu_eligible(&s.vcpus[id]) == 200);
}

/*
 * A new VCPU begins when enough past use is replenished, not when all is. It never waits longer
 * than a period of a destroyed VCPU.
 */
TEST(sched_vcpu_begins_when_enough_is_replenished)
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
	/* the VCPU runs for much longer than its budget */
	use_up(vcpu(MAIN_VCPU, 40, 100, 300), 300, 500);
	CHECK(vcpu_eligible(&s.vcpus[vcpu(MAIN_VCPU, 40, 100, 500)]) == 600);
}
