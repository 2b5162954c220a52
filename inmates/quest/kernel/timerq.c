// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include "timerq.h"

void timerq_init(struct timerq *q)
{
	int id;

	readytree_init(&q->usable);
	readytree_init(&q->depleted);
	q->turns = 0;
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

static unsigned int rank_of(const struct timer_event *e)
{
	return e ? e->rank : 0;
}

static bool precedes(const struct timer_event *a, const struct timer_event *b)
{
	return a->at < b->at || (a->at == b->at && a->turn < b->turn);
}

/* Something below `e` has changed. Returns whether its rank changes. */
static bool rank_again(struct timer_event *e)
{
	struct timer_event *left = e->left;
	unsigned int was = e->rank;

	if (rank_of(left) < rank_of(e->right)) {
		e->left = e->right;
		e->right = left;
	}
	e->rank = rank_of(e->right) + 1;
	return e->rank != was;
}

/* Makes one heap of two. A way to the right, and so the recursion, is at most log2(n) long. */
static struct timer_event *merge(struct timer_event *a, struct timer_event *b)
{
	struct timer_event *first = a && (!b || precedes(a, b)) ? a : b;

	if (!a || !b)
		return first;
	first->right = merge(first->right, first == a ? b : a);
	first->right->up = first;
	(void)rank_again(first);
	return first;
}

static void set_first(struct timerq *q, const struct sched *s, int vcpu, struct timer_event *first)
{
	if (first)
		first->up = NULL;
	if (q->first[vcpu] == first)
		return;
	q->first[vcpu] = first;
	set_times(q, s, vcpu);
}

void timerq_add(struct timerq *q, const struct sched *s, struct timer_event *e, int vcpu,
		uint64_t at)
{
	if (!q->first[vcpu])
		ensure(q, s, vcpu);
	*e = (struct timer_event){
		.at = at, .turn = q->turns++, .rank = 1, .vcpu = vcpu, .queued = true };
	set_first(q, s, vcpu, merge(q->first[vcpu], e));
}

void timerq_remove(struct timerq *q, const struct sched *s, struct timer_event *e)
{
	struct timer_event *up = e->up, *rest;

	if (!e->queued)
		return;
	e->queued = false;
	rest = merge(e->left, e->right);
	if (!up) {
		set_first(q, s, e->vcpu, rest);
		return;
	}
	if (rest)
		rest->up = up;
	if (up->left == e)
		up->left = rest;
	else
		up->right = rest;
	while (up && rank_again(up))
		up = up->up;
}

void timerq_update(struct timerq *q, const struct sched *s, int vcpu)
{
	if (!q->first[vcpu])
		return;
	ensure(q, s, vcpu);
	set_times(q, s, vcpu);
}

struct timer_event *timerq_due(const struct timerq *q, const struct sched *s, int ran,
			       uint64_t now)
{
	uint64_t key = sched_first_key(s, now), own;
	int id = readytree_first(&q->usable, now);

	if (id == READYTREE_NONE && key == UINT64_MAX)
		id = readytree_first(&q->depleted, now);
	if (id == READYTREE_NONE)
		return NULL;
	own = readytree_key(&q->usable, id);
	return own < key || (own == key && id == ran) ? q->first[id] : NULL;
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
