// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include "thread.h"
#include "waitqueue.h"

static uint64_t joins;

uint64_t waitqueue_joins(void)
{
	return joins;
}

void waitqueue_join(struct wait_queue *q, struct thread *t)
{
	t->waiting_on = q;
	t->joined = ++joins;
	t->next_waiting = NULL;
	t->prev_waiting = q->tail;
	if (q->tail)
		q->tail->next_waiting = t;
	else
		q->head = t;
	q->tail = t;
}

void waitqueue_leave(struct thread *t)
{
	struct wait_queue *q = t->waiting_on;

	if (t->prev_waiting)
		t->prev_waiting->next_waiting = t->next_waiting;
	else
		q->head = t->next_waiting;
	if (t->next_waiting)
		t->next_waiting->prev_waiting = t->prev_waiting;
	else
		q->tail = t->prev_waiting;
	t->next_waiting = t->prev_waiting = NULL;
	t->waiting_on = NULL;
}
