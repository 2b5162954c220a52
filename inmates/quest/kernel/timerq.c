// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include "timerq.h"

void timerq_init(struct timerq *q)
{
	int id;

	readytree_init(&q->tree);
	for (id = 0; id < SCHED_VCPUS; id++) {
		q->first[id] = NULL;
		q->in_tree[id] = false;
	}
}

/* The first event of a VCPU has changed. The VCPU stays in the tree, which costs less. */
static void set_first(struct timerq *q, int vcpu, struct timer_event *first)
{
	q->first[vcpu] = first;
	readytree_set(&q->tree, vcpu, first ? first->at : UINT64_MAX);
}

/* Another VCPU may have had the number before, with another priority. */
static void ensure(struct timerq *q, const struct sched *s, int vcpu)
{
	uint64_t key = sched_key(s, vcpu);

	if (q->in_tree[vcpu] && readytree_key(&q->tree, vcpu) == key)
		return;
	if (q->in_tree[vcpu])
		readytree_remove(&q->tree, vcpu);
	q->in_tree[vcpu] = true;
	readytree_insert(&q->tree, vcpu, key, q->first[vcpu] ? q->first[vcpu]->at : UINT64_MAX);
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
		set_first(q, e->vcpu, e);
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
}

void timerq_remove(struct timerq *q, struct timer_event *e)
{
	if (!e->queued)
		return;
	e->queued = false;
	if (e->next)
		e->next->prev = e->prev;
	if (e->prev)
		e->prev->next = e->next;
	else
		set_first(q, e->vcpu, e->next);
}

void timerq_update(struct timerq *q, const struct sched *s, int vcpu)
{
	if (q->first[vcpu])
		ensure(q, s, vcpu);
}

struct timer_event *timerq_due(const struct timerq *q, const struct sched *s, uint64_t now)
{
	int id = readytree_first(&q->tree, now);

	return id != READYTREE_NONE && readytree_key(&q->tree, id) <= sched_first_key(s, now) ?
	       q->first[id] : NULL;
}

uint64_t timerq_next(const struct timerq *q, const struct sched *s, uint64_t now)
{
	uint64_t key = sched_first_key(s, now);

	return readytree_before(&q->tree, key == UINT64_MAX ? key : key + 1);
}

uint64_t timerq_since(const struct timerq *q, int vcpu, uint64_t now)
{
	const struct timer_event *first = q->first[vcpu];

	return first && first->at < now ? first->at : now;
}
