// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../arch/context.h"
#include "../mm/pages.h"
#include "dispatch.h"
#include "panic.h"
#include "thread.h"

#define STACK_PAGES	4
#define STACK_SIZE	(STACK_PAGES * PAGE_SIZE)
#define STACK_CANARY	0x5AFE57AC4B0770FFull	/* at the lowest address */

static struct thread threads[THREAD_MAX];
static int next_id = THREAD_IDLE_ID + 1;

_Noreturn void thread_begin(thread_function *fn, void *arg);

struct thread *thread_current(void)
{
	return dispatch_current();
}

const char *thread_state_name(enum thread_state state)
{
	static const char *const names[] = {
		"free", "ready", "sleeping", "waiting", "dead",
	};

	return names[state];
}

void threads_init(unsigned int timer_vector, enum admission_test admission)
{
	struct thread *t = &threads[0];

	copy_string(t->name, "idle", sizeof(t->name));
	t->id = THREAD_IDLE_ID;
	t->state = THREAD_READY;
	dispatch_init(t, timer_vector, admission);
}

static struct thread *free_slot(void)
{
	int i;

	for (i = 0; i < THREAD_MAX; i++)
		if (threads[i].state == THREAD_FREE)
			return &threads[i];
	return NULL;
}

static void prepare_stack(struct thread *t, thread_function *fn, void *arg)
{
	/* first_return() starts with RSP at a multiple of 16, so that its call is aligned as the ABI says */
	struct context *c = (struct context *)(t->stack + STACK_SIZE - 16) - 1;

	memset(c, 0, sizeof(*c));
	c->r12 = (uintptr_t)fn;
	c->r13 = (uintptr_t)arg;
	c->rip = (uintptr_t)first_return;
	t->rsp = (uintptr_t)c;
	*(uint64_t *)t->stack = STACK_CANARY;
}

int thread_create(const char *name, int vcpu, thread_function *fn, void *arg)
{
	bool irqs = irq_save();
	struct thread *t = sched_vcpu(dispatch_sched(), vcpu) ? free_slot() : NULL;
	uint64_t stack = t ? pages_alloc(STACK_PAGES) : 0;
	int id = -1;

	if (stack) {
		memset(t, 0, sizeof(*t));
		t->stack = stack;
		copy_string(t->name, name, sizeof(t->name));
		id = t->id = next_id++;
		prepare_stack(t, fn, arg);
		dispatch_admit(t, vcpu);
	}
	irq_restore(irqs);
	dispatch_preempt();
	return id;
}

_Noreturn void thread_begin(thread_function *fn, void *arg)
{
	dispatch_arrived();
	irq_enable();
	fn(arg);
	thread_exit();
}

_Noreturn void thread_exit(void)
{
	irq_disable();
	thread_current()->state = THREAD_DEAD;
	dispatch_block();
	panic("a dead thread ran");
}

void thread_release(struct thread *t)
{
	pages_free(t->stack, STACK_PAGES);
	t->state = THREAD_FREE;
}

static void check_stack(const struct thread *t)
{
	if (t->stack && *(const uint64_t *)t->stack != STACK_CANARY)
		panic("thread %d (%s) has overrun its stack", t->id, t->name);
}

void thread_sleep_us(uint64_t us)
{
	bool irqs = irq_save();
	struct thread *t = thread_current();

	check_stack(t);
	t->state = THREAD_SLEEPING;
	dispatch_sleep(rdtsc() + timer_from_us(us));
	irq_restore(irqs);
}

void wait_on(struct wait_queue *q)
{
	struct thread *t = thread_current();

	check_stack(t);
	t->state = THREAD_WAITING;
	t->next_waiting = q->head;
	q->head = t;
	dispatch_block();
}

/* The shortest period of the VCPUs of those who wait; 0: nobody does. */
static uint64_t shortest_period(const struct wait_queue *q)
{
	uint64_t shortest = 0, period;
	const struct thread *t;

	for (t = q ? q->head : NULL; t; t = t->next_waiting) {
		period = vcpu_period(sched_vcpu(dispatch_sched(), t->sched.vcpu));
		if (!shortest || period < shortest)
			shortest = period;
	}
	return shortest;
}

static void wake_queue(struct wait_queue *q, uint64_t period)
{
	struct thread *t = q->head, *next;

	q->head = NULL;
	for (; t; t = next) {
		next = t->next_waiting;
		t->next_waiting = NULL;
		dispatch_wake_for(t, period);
	}
}

void wake_all(struct wait_queue *q)
{
	bool irqs = irq_save();

	wake_queue(q, 0);
	irq_restore(irqs);
	dispatch_preempt();
}

void wake_for(struct wait_queue *q, const struct wait_queue *served, uint64_t since)
{
	bool irqs = irq_save();
	int vcpu = q->head ? q->head->sched.vcpu : -1;

	wake_queue(q, shortest_period(served));
	if (vcpu >= 0)
		sched_charge_for(dispatch_sched(), vcpu, since, rdtsc());
	irq_restore(irqs);
}

bool thread_snapshot(int i, struct thread *copy)
{
	bool irqs = irq_save(), used = threads[i].state != THREAD_FREE;

	if (used) {
		*copy = threads[i];
		copy->sched.used = dispatch_used(&threads[i]);
	}
	irq_restore(irqs);
	return used;
}

uint64_t thread_idle_cycles(void)
{
	bool irqs = irq_save();
	uint64_t used = dispatch_used(&threads[0]);

	irq_restore(irqs);
	return used;
}
