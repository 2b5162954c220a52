// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include "timerq.h"

void timerq_add(struct timerq *q, struct timer_event *e, uint64_t at)
{
	struct timer_event **link = &q->head;

	while (*link && (*link)->at <= at)
		link = &(*link)->next;
	e->at = at;
	e->queued = true;
	e->next = *link;
	*link = e;
}

void timerq_remove(struct timerq *q, struct timer_event *e)
{
	struct timer_event **link = &q->head;

	while (*link && *link != e)
		link = &(*link)->next;
	if (!*link)
		return;
	*link = e->next;
	e->next = NULL;
	e->queued = false;
}

struct timer_event *timerq_expire(struct timerq *q, uint64_t now)
{
	struct timer_event *e = q->head;

	if (!e || e->at > now)
		return NULL;
	q->head = e->next;
	e->next = NULL;
	e->queued = false;
	return e;
}

uint64_t timerq_next(const struct timerq *q)
{
	return q->head ? q->head->at : UINT64_MAX;
}
