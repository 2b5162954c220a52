// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include "timerq.h"

void timerq_init(struct timerq *q)
{
	int id;

	readytree_init(&q->tree);
	for (id = 0; id < SCHED_VCPUS; id++)
		q->first[id] = NULL;
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
	bool some = next;

	e->at = at;
	e->vcpu = vcpu;
	e->queued = true;
	for (; next && next->at <= at; next = next->next)
		before = next;
	link_behind(q, e, before);
	if (!some)
		readytree_insert(&q->tree, vcpu, sched_key(s, vcpu), at);
	else if (!before)
		readytree_set(&q->tree, vcpu, at);
}

void timerq_remove(struct timerq *q, struct timer_event *e)
{
	if (!e->queued)
		return;
	e->queued = false;
	if (e->next)
		e->next->prev = e->prev;
	if (e->prev) {
		e->prev->next = e->next;
		return;
	}
	q->first[e->vcpu] = e->next;
	if (e->next)
		readytree_set(&q->tree, e->vcpu, e->next->at);
	else
		readytree_remove(&q->tree, e->vcpu);
}

void timerq_update(struct timerq *q, const struct sched *s, int vcpu)
{
	if (!q->first[vcpu])
		return;
	readytree_remove(&q->tree, vcpu);
	readytree_insert(&q->tree, vcpu, sched_key(s, vcpu), q->first[vcpu]->at);
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
