// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <inmate/cpu.h>
#include "dispatch.h"
#include "threadslot.h"
#include "wait.h"

#define STEP	8			/* number of threads that are woken between two pauses */

bool wait_on_until(struct wait_queue *q, uint64_t at)
{
	struct thread *t = thread_current();

	t->state = THREAD_WAITING;
	t->late = false;
	waitqueue_join(q, t);
	if (at == UINT64_MAX)
		dispatch_block();
	else
		dispatch_sleep(at);
	return !t->late;
}

void wait_on(struct wait_queue *q)
{
	(void)wait_on_until(q, UINT64_MAX);
}

/* The shortest period of the VCPUs of the threads in `q`; 0: there are none. */
static uint64_t shortest_period(const struct wait_queue *q)
{
	uint64_t shortest = 0, period;
	const struct thread *t;

	for (t = q ? q->head : NULL; t; t = t->next_waiting) {
		if (sched_vcpu(dispatch_sched(), t->sched.vcpu)->params.type == BACKGROUND_VCPU)
			continue;		/* this thread has no priority to inherit */
		period = vcpu_period(sched_vcpu(dispatch_sched(), t->sched.vcpu));
		if (!shortest || period < shortest)
			shortest = period;
	}
	return shortest;
}

static void wake_head(struct wait_queue *q, uint64_t period, uint64_t now)
{
	struct thread *t = q->head;

	waitqueue_leave(t);
	dispatch_wake_for(t, period, now);
}

static void wake_queue(struct wait_queue *q, uint64_t period, uint64_t now)
{
	while (q->head)
		wake_head(q, period, now);
}

void wake_all(struct wait_queue *q)
{
	bool irqs = irq_save();

	wake_queue(q, 0, rdtsc());
	irq_restore(irqs);
	dispatch_preempt();
}

void wake_many(struct wait_queue *q)
{
	uint64_t last = waitqueue_joins();
	unsigned int n = 0;

	while (q->head && q->head->joined <= last) {
		wake_head(q, 0, rdtsc());
		if (++n % STEP == 0)
			let_interrupts_in();
	}
}

void wake_for(struct wait_queue *q, const struct wait_queue *served, int vcpu, uint64_t since)
{
	bool irqs = irq_save();

	/* Wake at time `since`, so that no later time is charged to the interrupted thread. */
	wake_queue(q, shortest_period(served), since);
	sched_charge_for(dispatch_sched(), vcpu, since, rdtsc());
	irq_restore(irqs);
}

void wake_thread(struct thread *t)
{
	waitqueue_leave(t);
	dispatch_wake(t);
}

void wake_threads_of(const struct process *p)
{
	struct thread *t;
	int i;

	for (i = 0; i < THREAD_MAX; i++) {
		t = threadslot_at(i);
		if (!t || t->process != p)
			continue;
		if (t->state == THREAD_WAITING)
			waitqueue_leave(t);
		if (t->state == THREAD_WAITING || t->state == THREAD_SLEEPING)
			dispatch_wake(t);
	}
}
