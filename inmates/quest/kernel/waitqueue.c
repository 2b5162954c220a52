// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include "thread.h"
#include "waitqueue.h"

void waitqueue_join(struct wait_queue *q, struct thread *t)
{
	t->waiting_on = q;
	t->next_waiting = q->head;
	q->head = t;
}

void waitqueue_leave(struct thread *t)
{
	struct thread **at = &t->waiting_on->head;

	while (*at != t)
		at = &(*at)->next_waiting;
	*at = t->next_waiting;
	t->next_waiting = NULL;
	t->waiting_on = NULL;
}
