/* SPDX-License-Identifier: GPL-2.0-only */
/* A scheduler and three entities, for the tests of sched/. */
#ifndef SCHED_FIXTURE_H
#define SCHED_FIXTURE_H

#include <stdbool.h>
#include <stdio.h>
#include "../quest/sched/sched.h"
#include "unit.h"

#define QUANTUM	10

static struct sched s;
static struct sched_entity a, b, c;

static inline void set_up(bool background)
{
	const struct sched_config config = { .quantum = QUANTUM, .background = background };

	sched_init(&s, &config, 0);
	sched_entity_init(&a);
	sched_entity_init(&b);
	sched_entity_init(&c);
}

static inline int vcpu_of(int owner, enum vcpu_type type, uint64_t budget, uint64_t period,
			  uint64_t now)
{
	const struct vcpu_params params = { "v", type, budget, period, owner };

	return sched_vcpu_create(&s, &params, now);
}

static inline int vcpu(enum vcpu_type type, uint64_t budget, uint64_t period, uint64_t now)
{
	return vcpu_of(0, type, budget, period, now);
}

/* Makes a decision. Returns whether it is to run `e` until `until`. */
static inline bool chosen(const struct sched_entity *e, uint64_t until, uint64_t now)
{
	struct sched_choice choice = sched_decide(&s, now);

	if (choice.entity == e && choice.until == until)
		return true;
	printf("at %lu: %s until %ld\n", now,
	       choice.entity == &a ? "a" : choice.entity == &b ? "b" :
	       choice.entity == &c ? "c" : "none", (long)choice.until);
	return false;
}

/* Lets VCPU `id` use its budget from `now` to `end`, and destroys it. */
static inline void use_up(int id, uint64_t now, uint64_t end)
{
	sched_bind(&s, &a, id, now);
	sched_ready(&s, &a, now);
	CHECK(sched_decide(&s, now).entity == &a);
	sched_unbind(&s, &a, end);
	CHECK(sched_vcpu_destroy(&s, id, end) == 0);
}

#endif
