// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include "timerq.h"

static bool before(const struct timer_event *a, const struct timer_event *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void place(struct timerq *q, struct timer_event *e, uint32_t i)
{
	q->heap[i] = e;
	e->place = i;
}

static void up(struct timerq *q, struct timer_event *e, uint32_t i)
{
	for (; i && before(e, q->heap[(i - 1) / 2]); i = (i - 1) / 2)
		place(q, q->heap[(i - 1) / 2], i);
	place(q, e, i);
}

static void down(struct timerq *q, struct timer_event *e, uint32_t i)
{
	uint32_t child;

	for (; (child = 2 * i + 1) < q->length; i = child) {
		if (child + 1 < q->length && before(q->heap[child + 1], q->heap[child]))
			child++;
		if (before(e, q->heap[child]))
			break;
		place(q, q->heap[child], i);
	}
	place(q, e, i);
}

void timerq_add(struct timerq *q, struct timer_event *e, uint64_t at)
{
	e->at = at;
	e->order = q->added++;
	e->queued = true;
	up(q, e, q->length++);
}

void timerq_remove(struct timerq *q, struct timer_event *e)
{
	struct timer_event *last;

	if (!e->queued)
		return;
	e->queued = false;
	last = q->heap[--q->length];
	if (last == e)
		return;
	if (e->place && before(last, q->heap[(e->place - 1) / 2]))
		up(q, last, e->place);
	else
		down(q, last, e->place);
}

struct timer_event *timerq_expire(struct timerq *q, uint64_t now)
{
	struct timer_event *e = q->length ? q->heap[0] : NULL;

	if (!e || e->at > now)
		return NULL;
	timerq_remove(q, e);
	return e;
}

uint64_t timerq_next(const struct timerq *q)
{
	return q->length ? q->heap[0]->at : UINT64_MAX;
}
