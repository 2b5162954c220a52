// SPDX-License-Identifier: GPL-2.0-only
#include "server.h"

#define RING_EMPTY	(-1)

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void sched_init(struct sched *s, const struct sched_config *config, uint64_t now)
{
	int id;

	s->config = *config;
	s->current = NULL;
	s->in_background = false;
	s->charged = now;
	s->idle = 0;
	s->decisions = 0;
	s->ring = RING_EMPTY;
	readytree_init(&s->ready);
	for (id = 0; id < SCHED_VCPUS; id++)
		s->vcpus[id].state = VCPU_FREE;
}

const struct vcpu *sched_vcpu(const struct sched *s, int id)
{
	if (id < 0 || id >= SCHED_VCPUS || s->vcpus[id].state != VCPU_ACTIVE)
		return NULL;
	return &s->vcpus[id];
}

/* The entities of a VCPU, in round-robin order. */

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

/* The runnable VCPUs in a ring, in the round-robin order of the background. */

static void ring_add(struct sched *s, int id)
{
	struct vcpu *v = &s->vcpus[id];

	if (s->ring == RING_EMPTY) {
		s->ring = v->ring_next = v->ring_prev = id;
		return;
	}
	v->ring_next = s->ring;
	v->ring_prev = s->vcpus[s->ring].ring_prev;
	s->vcpus[v->ring_prev].ring_next = id;
	s->vcpus[s->ring].ring_prev = id;
}

static void ring_remove(struct sched *s, int id)
{
	struct vcpu *v = &s->vcpus[id];

	s->vcpus[v->ring_prev].ring_next = v->ring_next;
	s->vcpus[v->ring_next].ring_prev = v->ring_prev;
	if (s->ring == id)
		s->ring = v->ring_next == id ? RING_EMPTY : v->ring_next;
}

static void make_vcpu_runnable(struct sched *s, int id)
{
	struct vcpu *v = &s->vcpus[id];

	readytree_insert(&s->ready, id, vcpu_key(v, id), server_of(v)->eligible(v));
	ring_add(s, id);
}

static void make_vcpu_blocked(struct sched *s, int id)
{
	readytree_remove(&s->ready, id);
	ring_remove(s, id);
}

/*
 * Charges `delta` to the quantum of `e`. When the quantum ends, `e` becomes the last entity of its
 * VCPU. If it ran in the background, its VCPU becomes the last one there, too.
 */
static void charge_quantum(struct sched *s, struct sched_entity *e, uint64_t delta)
{
	struct vcpu *v = &s->vcpus[e->vcpu];

	if (delta < e->slice) {
		e->slice -= delta;
		return;
	}
	e->slice = s->config.quantum;
	unlink(&v->queue, e);
	append(&v->queue, e);
	if (s->in_background)
		s->ring = v->ring_next;
}

static void charge_budget(struct sched *s, int id, uint64_t delta, uint64_t now)
{
	struct vcpu *v = &s->vcpus[id];
	bool depleted = delta >= server_of(v)->left(v);
	uint64_t overrun = server_of(v)->charge(v, delta, now);

	v->counts.used += delta;
	v->counts.depleted += depleted;
	if (overrun) {
		v->counts.overruns++;
		if (overrun > v->counts.overrun_max)
			v->counts.overrun_max = overrun;
	}
	if (v->queue.head)
		readytree_set(&s->ready, id, server_of(v)->eligible(v));
}

void sched_charge_for(struct sched *s, int id, uint64_t since, uint64_t now)
{
	struct vcpu *v = &s->vcpus[id];
	bool active = v->queue.head;

	sched_charge(s, since);
	v->counts.interrupts++;
	if (now <= s->charged)
		return;
	v->counts.interrupt_time += now - s->charged;
	/* If the VCPU has budget, the handler counts as its first dispatch. */
	if (!active)
		server_of(v)->wake(v, 0, false, s->charged);
	server_of(v)->dispatch(v, s->charged);
	charge_budget(s, id, now - s->charged, now);
	if (!active)
		server_of(v)->block(v, now);
	s->charged = now;
}

void sched_charge(struct sched *s, uint64_t now)
{
	struct sched_entity *e = s->current;
	uint64_t delta;

	if (now <= s->charged)
		return;
	delta = now - s->charged;
	s->charged = now;
	if (!e) {
		s->idle += delta;
		return;
	}
	e->used += delta;
	if (s->in_background)
		s->vcpus[e->vcpu].counts.background += delta;
	else
		charge_budget(s, e->vcpu, delta, now);
	charge_quantum(s, e, delta);
}

void sched_entity_init(struct sched_entity *e)
{
	*e = (struct sched_entity){ .vcpu = -1 };
}

/* An inherited period may change the priority and the budget of an I/O VCPU. */
static void wake(struct sched *s, int id, uint64_t period, uint64_t now)
{
	struct vcpu *v = &s->vcpus[id];
	bool active = v->queue.head;

	if (active && v->params.type != IO_VCPU)
		return;
	if (active)
		readytree_remove(&s->ready, id);
	server_of(v)->wake(v, period, active, now);
	if (active)
		readytree_insert(&s->ready, id, vcpu_key(v, id), server_of(v)->eligible(v));
	else
		make_vcpu_runnable(s, id);
}

void sched_ready_for(struct sched *s, struct sched_entity *e, uint64_t period, uint64_t now)
{
	sched_charge(s, now);
	wake(s, e->vcpu, period, now);
	if (e->runnable)
		return;
	e->runnable = true;
	e->slice = s->config.quantum;
	append(&s->vcpus[e->vcpu].queue, e);
}

void sched_ready(struct sched *s, struct sched_entity *e, uint64_t now)
{
	if (!e->runnable)
		sched_ready_for(s, e, 0, now);
}

void sched_block(struct sched *s, struct sched_entity *e, uint64_t now)
{
	struct vcpu *v = &s->vcpus[e->vcpu];

	if (!e->runnable)
		return;
	sched_charge(s, now);
	if (s->current == e)
		s->current = NULL;
	e->runnable = false;
	unlink(&v->queue, e);
	if (v->queue.head)
		return;
	server_of(v)->block(v, now);
	make_vcpu_blocked(s, e->vcpu);
}

/*
 * Call it when `e` has moved to another VCPU while it runs. Until the next decision, `e` continues
 * on the budget of the new VCPU, or in the background.
 */
static void continue_on_new_vcpu(struct sched *s, struct sched_entity *e, uint64_t now)
{
	struct vcpu *v = &s->vcpus[e->vcpu];

	s->current = e;
	s->in_background = server_of(v)->eligible(v) > now;
	if (!s->in_background)
		server_of(v)->dispatch(v, now);
}

int sched_bind(struct sched *s, struct sched_entity *e, int id, uint64_t now)
{
	bool runnable = e->runnable, current = e == s->current;

	if (!sched_vcpu(s, id))
		return SCHED_NO_VCPU;
	if (e->vcpu == id)
		return 0;
	if (e->vcpu >= 0)
		sched_unbind(s, e, now);
	e->vcpu = id;
	s->vcpus[id].bound++;
	if (runnable)
		sched_ready(s, e, now);
	if (current)
		continue_on_new_vcpu(s, e, now);
	return 0;
}

void sched_unbind(struct sched *s, struct sched_entity *e, uint64_t now)
{
	sched_block(s, e, now);
	s->vcpus[e->vcpu].bound--;
	e->vcpu = -1;
}

/*
 * Decides for a VCPU in the foreground. It runs until its budget or its entity's quantum ends, or
 * until a VCPU of higher priority gets budget.
 */
static struct sched_choice run_foreground(struct sched *s, int id, uint64_t now)
{
	struct vcpu *v = &s->vcpus[id];
	struct sched_choice choice = { v->queue.head, SCHED_NEVER };

	server_of(v)->dispatch(v, now);
	readytree_set(&s->ready, id, server_of(v)->eligible(v));
	choice.until = min(now + server_of(v)->left(v),
			   readytree_before(&s->ready, vcpu_key(v, id)));
	if (choice.entity->next)
		choice.until = min(choice.until, now + choice.entity->slice);
	return choice;
}

/*
 * Decides while no runnable VCPU has budget: runs the VCPUs round-robin until one of them gets
 * budget.
 */
static struct sched_choice run_background(struct sched *s, uint64_t now)
{
	struct sched_choice choice = { NULL, readytree_before(&s->ready, UINT64_MAX) };
	struct vcpu *v;

	if (!s->config.background || s->ring == RING_EMPTY)
		return choice;
	v = &s->vcpus[s->ring];
	choice.entity = v->queue.head;
	if (choice.entity->next || v->ring_next != s->ring)
		choice.until = min(choice.until, now + choice.entity->slice);
	return choice;
}

uint64_t sched_key(const struct sched *s, int id)
{
	return vcpu_key(&s->vcpus[id], id);
}

uint64_t sched_first_key(const struct sched *s, uint64_t now)
{
	int first = readytree_first(&s->ready, now);

	return first == READYTREE_NONE ? UINT64_MAX : readytree_key(&s->ready, first);
}

struct sched_choice sched_decide(struct sched *s, uint64_t now)
{
	struct sched_choice choice;
	int first;

	sched_charge(s, now);
	s->decisions++;
	first = readytree_first(&s->ready, now);
	s->in_background = first == READYTREE_NONE;
	choice = s->in_background ? run_background(s, now) : run_foreground(s, first, now);
	s->current = choice.entity;
	return choice;
}

uint64_t sched_used(const struct sched *s, const struct sched_entity *e, uint64_t now)
{
	return e->used + (e == s->current && now > s->charged ? now - s->charged : 0);
}
