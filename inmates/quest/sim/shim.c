// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler as a library for Python (core.py). All arguments and results are numbers, not
 * structures.
 */
#include <stdlib.h>
#include <stdio.h>
#include "../sched/sched.h"

#define ENTITIES	512

struct sim {
	struct sched sched;
	int entities;
	struct sched_entity entity[ENTITIES];
};

struct sim *sim_new(uint64_t quantum, int background, int admission, uint64_t now);
void sim_free(struct sim *s);
int sim_create(struct sim *s, const char *name, int type, uint64_t budget, uint64_t period,
	       uint64_t now);
int sim_destroy(struct sim *s, int id, uint64_t now);
int sim_set(struct sim *s, int id, uint64_t budget, uint64_t period, uint64_t now);
int sim_limit(struct sim *s, int id, unsigned int limit);
int sim_entity(struct sim *s);
int sim_bind(struct sim *s, int entity, int id, uint64_t now);
void sim_unbind(struct sim *s, int entity, uint64_t now);
void sim_ready(struct sim *s, int entity, uint64_t period, uint64_t now);
void sim_block(struct sim *s, int entity, uint64_t now);
void sim_interrupt(struct sim *s, int id, uint64_t since, uint64_t now);
int sim_decide(struct sim *s, uint64_t now, uint64_t *until);
int sim_background(const struct sim *s);
int sim_queue(const struct sim *s, int id, uint64_t *pairs, uint64_t *usage);
void sim_io(const struct sim *s, int id, uint64_t *state);
void sim_counts(const struct sim *s, int id, uint64_t *counts);
void sim_shift(struct sim *s, int id, int64_t by);
uint64_t sim_idle(const struct sim *s);
void sim_admission(const uint64_t *entries, unsigned int n, uint64_t *answers);
int sim_with_past(int exact, const uint64_t *entries, unsigned int existing, unsigned int n);
uint64_t sim_response(const uint64_t *entries, unsigned int n, unsigned int i);

struct sim *sim_new(uint64_t quantum, int background, int admission, uint64_t now)
{
	const struct sched_config config = { quantum, background, admission };
	struct sim *s = calloc(1, sizeof(*s));

	if (s)
		sched_init(&s->sched, &config, now);
	return s;
}

void sim_free(struct sim *s)
{
	free(s);
}

static struct vcpu_params params(const char *name, int type, uint64_t budget, uint64_t period)
{
	struct vcpu_params p = { .type = type, .budget = budget, .period = period };

	snprintf(p.name, sizeof(p.name), "%s", name);
	return p;
}

int sim_create(struct sim *s, const char *name, int type, uint64_t budget, uint64_t period,
	       uint64_t now)
{
	const struct vcpu_params p = params(name, type, budget, period);

	return sched_vcpu_create(&s->sched, &p, now);
}

int sim_destroy(struct sim *s, int id, uint64_t now)
{
	return sched_vcpu_destroy(&s->sched, id, now);
}

int sim_set(struct sim *s, int id, uint64_t budget, uint64_t period, uint64_t now)
{
	const struct vcpu *v = sched_vcpu(&s->sched, id);
	const struct vcpu_params p = params(v ? v->params.name : "",
					    v ? v->params.type : MAIN_VCPU, budget, period);

	return sched_vcpu_set(&s->sched, id, &p, now);
}

/* Limits the length of the queue of a Main VCPU that has not run yet. */
int sim_limit(struct sim *s, int id, unsigned int limit)
{
	if (limit < 2 || limit > SPORADIC_MAX)
		return -1;
	s->sched.vcpus[id].main.limit = limit;
	return 0;
}

int sim_entity(struct sim *s)
{
	if (s->entities == ENTITIES)
		return -1;
	sched_entity_init(&s->entity[s->entities]);
	return s->entities++;
}

int sim_bind(struct sim *s, int entity, int id, uint64_t now)
{
	return sched_bind(&s->sched, &s->entity[entity], id, now);
}

void sim_unbind(struct sim *s, int entity, uint64_t now)
{
	sched_unbind(&s->sched, &s->entity[entity], now);
}

void sim_ready(struct sim *s, int entity, uint64_t period, uint64_t now)
{
	sched_ready_for(&s->sched, &s->entity[entity], period, now);
}

void sim_block(struct sim *s, int entity, uint64_t now)
{
	sched_block(&s->sched, &s->entity[entity], now);
}

void sim_interrupt(struct sim *s, int id, uint64_t since, uint64_t now)
{
	sched_charge_for(&s->sched, id, since, now);
}

int sim_decide(struct sim *s, uint64_t now, uint64_t *until)
{
	struct sched_choice choice = sched_decide(&s->sched, now);

	*until = choice.until;
	return choice.entity ? (int)(choice.entity - s->entity) : -1;
}

int sim_background(const struct sim *s)
{
	return s->sched.in_background;
}

/* `pairs` has room for 2 * SPORADIC_MAX. Returns the queue's length. */
int sim_queue(const struct sim *s, int id, uint64_t *pairs, uint64_t *usage)
{
	const struct sporadic *m = &s->sched.vcpus[id].main;
	unsigned int i;

	for (i = 0; i < m->length; i++) {
		pairs[2 * i] = m->queue[i].at;
		pairs[2 * i + 1] = m->queue[i].amount;
	}
	*usage = m->usage;
	return m->length;
}

/* Stores four numbers: inherited, eligible, left, used. */
void sim_io(const struct sim *s, int id, uint64_t *state)
{
	const struct pibs *p = &s->sched.vcpus[id].io;

	state[0] = p->inherited;
	state[1] = p->eligible;
	state[2] = p->left;
	state[3] = p->used;
}

/* Stores five numbers: used, background, depleted, overruns, overrun_max. */
void sim_counts(const struct sim *s, int id, uint64_t *counts)
{
	const struct vcpu_counts *c = &s->sched.vcpus[id].counts;

	counts[0] = c->used;
	counts[1] = c->background;
	counts[2] = c->depleted;
	counts[3] = c->overruns;
	counts[4] = c->overrun_max;
}

void sim_shift(struct sim *s, int id, int64_t by)
{
	vcpu_shift(&s->sched.vcpus[id], by);
}

uint64_t sim_idle(const struct sim *s)
{
	return s->sched.idle;
}

static unsigned int read_set(const uint64_t *entries, unsigned int n, struct admission_entry *set)
{
	unsigned int i;

	for (i = 0; i < n && i <= SCHED_VCPUS; i++)
		set[i] = (struct admission_entry){
			entries[3 * i], entries[3 * i + 1], entries[3 * i + 2] };
	return i;
}

/*
 * `entries` has io, budget and period of each VCPU. Stores load, limit, and whether the bound and
 * the exact test admit the VCPUs.
 */
void sim_admission(const uint64_t *entries, unsigned int n, uint64_t *answers)
{
	struct admission_entry set[SCHED_VCPUS + 1];

	n = read_set(entries, n, set);
	answers[0] = admission_load(set, n);
	answers[1] = admission_limit(set, n);
	answers[2] = admission_bound(set, n);
	answers[3] = admission_exact(set, n);
}

int sim_with_past(int exact, const uint64_t *entries, unsigned int existing, unsigned int n)
{
	struct admission_entry set[SCHED_VCPUS + 1];

	n = read_set(entries, n, set);
	return admission_with_past(exact ? ADMISSION_EXACT : ADMISSION_BOUND, set, existing, n);
}

uint64_t sim_response(const uint64_t *entries, unsigned int n, unsigned int i)
{
	struct admission_entry set[SCHED_VCPUS + 1];

	n = read_set(entries, n, set);
	return admission_response(set, n, i);
}
