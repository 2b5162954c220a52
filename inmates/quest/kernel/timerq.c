// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include "timerq.h"

void timerq_init(struct timerq *q)
{
	int id;

	readytree_init(&q->usable);
	readytree_init(&q->depleted);
	for (id = 0; id < SCHED_VCPUS; id++) {
		q->first[id] = NULL;
		q->in_trees[id] = false;
	}
}

static uint64_t usable_at(const struct timerq *q, const struct sched *s, int vcpu)
{
	const struct timer_event *first = q->first[vcpu];
	uint64_t eligible = vcpu_eligible(&s->vcpus[vcpu]);

	if (!first)
		return UINT64_MAX;
	return first->at > eligible ? first->at : eligible;
}

/* The first event of a VCPU, or its budget, has changed. It stays in the trees: that costs less. */
static void set_times(struct timerq *q, const struct sched *s, int vcpu)
{
	const struct timer_event *first = q->first[vcpu];
	uint64_t usable = usable_at(q, s, vcpu);

	readytree_set(&q->usable, vcpu, usable);
	readytree_set(&q->depleted, vcpu, first && first->at < usable ? first->at : UINT64_MAX);
}

/* Another VCPU may have had the number before, with another priority. */
static void ensure(struct timerq *q, const struct sched *s, int vcpu)
{
	uint64_t key = sched_key(s, vcpu);

	if (q->in_trees[vcpu] && readytree_key(&q->usable, vcpu) == key)
		return;
	if (q->in_trees[vcpu]) {
		readytree_remove(&q->usable, vcpu);
		readytree_remove(&q->depleted, vcpu);
	}
	q->in_trees[vcpu] = true;
	readytree_insert(&q->usable, vcpu, key, UINT64_MAX);
	readytree_insert(&q->depleted, vcpu, key, UINT64_MAX);
}

static void link_behind(struct timerq *q, struct timer_event *e, struct timer_event *before)
{
	e->prev = before;
	e->next = before ? before->next : q->first[e->vcpu];
	if (e->next)
		e->next->prev = e;
	if (before)
		before->next = e;
	else
		q->first[e->vcpu] = e;
}

void timerq_add(struct timerq *q, const struct sched *s, struct timer_event *e, int vcpu,
		uint64_t at)
{
	struct timer_event *before = NULL, *next = q->first[vcpu];

	if (!next)
		ensure(q, s, vcpu);
	e->at = at;
	e->vcpu = vcpu;
	e->queued = true;
	for (; next && next->at <= at; next = next->next)
		before = next;
	link_behind(q, e, before);
	if (!before)
		set_times(q, s, vcpu);
}

void timerq_remove(struct timerq *q, const struct sched *s, struct timer_event *e)
{
	if (!e->queued)
		return;
	e->queued = false;
	if (e->next)
		e->next->prev = e->prev;
	if (e->prev) {
		e->prev->next = e->next;
	} else {
		q->first[e->vcpu] = e->next;
		set_times(q, s, e->vcpu);
	}
}

void timerq_update(struct timerq *q, const struct sched *s, int vcpu)
{
	if (!q->first[vcpu])
		return;
	ensure(q, s, vcpu);
	set_times(q, s, vcpu);
}

struct timer_event *timerq_due(const struct timerq *q, const struct sched *s, uint64_t now)
{
	uint64_t key = sched_first_key(s, now);
	int id = readytree_first(&q->usable, now);

	if (id == READYTREE_NONE && key == UINT64_MAX)
		id = readytree_first(&q->depleted, now);
	return id != READYTREE_NONE && readytree_key(&q->usable, id) <= key ? q->first[id] : NULL;
}

uint64_t timerq_next(const struct timerq *q, const struct sched *s, uint64_t now)
{
	uint64_t key = sched_first_key(s, now), usable, depleted;

	if (key != UINT64_MAX)
		return readytree_before(&q->usable, key + 1);
	usable = readytree_before(&q->usable, key);
	depleted = readytree_before(&q->depleted, key);
	return usable < depleted ? usable : depleted;
}

uint64_t timerq_since(const struct timerq *q, int vcpu, uint64_t now)
{
	const struct timer_event *first = q->first[vcpu];

	return first && first->at < now ? first->at : now;
}
