// SPDX-License-Identifier: GPL-2.0-only
#include "sched.h"

void sched_init(struct sched *s, uint64_t quantum)
{
	unsigned int i;

	s->quantum = quantum;
	for (i = 0; i < SCHED_PRIORITIES; i++)
		s->ready[i] = (struct sched_queue){ NULL, NULL };
}

void sched_entity_init(struct sched *s, struct sched_entity *e, unsigned int priority)
{
	*e = (struct sched_entity){
		.priority = priority < SCHED_PRIORITIES ? priority : SCHED_PRIORITIES - 1,
		.slice = s->quantum,
	};
}

static void append(struct sched_queue *q, struct sched_entity *e)
{
	e->next = NULL;
	e->prev = q->tail;
	if (q->tail)
		q->tail->next = e;
	else
		q->head = e;
	q->tail = e;
}

static void unlink(struct sched_queue *q, struct sched_entity *e)
{
	if (e->prev)
		e->prev->next = e->next;
	else
		q->head = e->next;
	if (e->next)
		e->next->prev = e->prev;
	else
		q->tail = e->prev;
	e->next = e->prev = NULL;
}

void sched_ready(struct sched *s, struct sched_entity *e, uint64_t now)
{
	(void)now;
	if (e->runnable)
		return;
	e->runnable = true;
	append(&s->ready[e->priority], e);
}

void sched_block(struct sched *s, struct sched_entity *e, uint64_t now)
{
	(void)now;
	if (!e->runnable)
		return;
	e->runnable = false;
	e->slice = s->quantum;
	unlink(&s->ready[e->priority], e);
}

void sched_charge(struct sched *s, struct sched_entity *e, uint64_t delta)
{
	e->used += delta;
	if (delta < e->slice) {
		e->slice -= delta;
		return;
	}
	e->slice = s->quantum;		/* turn over: behind its equals */
	if (e->runnable) {
		unlink(&s->ready[e->priority], e);
		append(&s->ready[e->priority], e);
	}
}

struct sched_choice sched_pick(const struct sched *s, uint64_t now)
{
	struct sched_choice choice = { NULL, SCHED_NEVER };
	unsigned int i;

	for (i = 0; i < SCHED_PRIORITIES && !choice.entity; i++)
		choice.entity = s->ready[i].head;
	/* alone at its priority it needs no clock */
	if (choice.entity && choice.entity->next)
		choice.until = now + choice.entity->slice;
	return choice;
}
