// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <inmate/context.h>
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include <inmate/trap.h>
#include "../arch/user.h"
#include "dispatch.h"
#include "lateness.h"
#include "threadslot.h"
#include "trace.h"
#include "waitqueue.h"

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#define QUANTUM_US	10000
#define DUE_MOST	8		/* threads that wake in a decision at most */

static struct sched sched;
static struct timerq sleepers;
static struct thread *current, *idle, *departed;
static bool needed;
static struct dispatch_cost cost;

static void timer_interrupt(struct trap_frame *frame)
{
	(void)frame;
	timer_fired();
	needed = true;
}

void dispatch_init(struct thread *idle_thread, unsigned int timer_vector,
		   enum admission_test admission, bool background)
{
	const struct sched_config config = {
		.quantum = timer_from_us(QUANTUM_US),
		.background = background,
		.admission = admission,
	};

	sched_init(&sched, &config, rdtsc());
	timerq_init(&sleepers);
	idle = current = idle_thread;
	sched_entity_init(&idle->sched);
	trap_set_irq(timer_vector, timer_interrupt);
}

struct sched *dispatch_sched(void)
{
	return &sched;
}

void dispatch_changed(void)
{
	needed = true;
}

void dispatch_admit(struct thread *t, int vcpu)
{
	sched_entity_init(&t->sched);
	t->own_vcpu = vcpu;
	sched_bind(&sched, &t->sched, vcpu, rdtsc());
	dispatch_wake(t);
}

struct thread *dispatch_current(void)
{
	return current;
}

bool dispatch_needed(void)
{
	return needed;
}

struct dispatch_cost dispatch_cost(void)
{
	return cost;
}

uint64_t dispatch_used(const struct thread *t)
{
	uint64_t now = rdtsc();

	if (t != idle)
		return sched_used(&sched, &t->sched, now);
	return sched.idle + (sched.current ? 0 : now - sched.charged);
}

void dispatch_arrived(void)
{
	if (!departed)
		return;
	sched_unbind(&sched, &departed->sched, rdtsc());
	threadslot_free(departed);
	departed = NULL;
}

static void switch_to(struct thread *next)
{
	struct thread *prev = current;

	if (next == prev)
		return;
	if (prev->state == THREAD_DEAD)
		/*
		 * the stack of this thread is in use until the switch, so it is freed after the
		 * switch
		 */
		departed = prev;
	current = next;
	user_switch(next);
	switch_context(&prev->rsp, next->rsp);
	dispatch_arrived();
}

/*
 * If the thread is late, its new VCPU has not been runnable before now. So its lateness counts from
 * now on, too.
 */
int dispatch_bind(struct thread *t, int vcpu)
{
	uint64_t now = rdtsc(), at = t->timer.at > now ? t->timer.at : now;
	int was = t->sched.vcpu, error = sched_bind(&sched, &t->sched, vcpu, now);

	timerq_update(&sleepers, &sched, was);	/* its last use is charged */
	if (!error && t->timer.queued) {
		timerq_remove(&sleepers, &sched, &t->timer);
		timerq_add(&sleepers, &sched, &t->timer, vcpu, at);
	}
	needed = true;
	return error;
}

void dispatch_vcpu_changed(int vcpu)
{
	timerq_update(&sleepers, &sched, vcpu);
	needed = true;
}

/*
 * A Main VCPU that was blocked counts as runnable since the first of its threads was due, since
 * threads of VCPUs with lower priorities wake late.
 */
static void wake(struct thread *t, uint64_t period, uint64_t now)
{
	int vcpu = t->sched.vcpu;

	if (sched.vcpus[vcpu].params.type == MAIN_VCPU)
		now = timerq_since(&sleepers, vcpu, now);
	timerq_remove(&sleepers, &sched, &t->timer);
	t->state = THREAD_READY;
	sched_ready_for(&sched, &t->sched, period, now);
}

/* The wake-up time of `t` has come: ends its sleep or its wait. */
static void expire(struct thread *t, uint64_t now)
{
	if (t->state == THREAD_WAITING) {
		waitqueue_leave(t);
		t->late = true;
	}
	lateness_due(t, t->timer.at);
	wake(t, 0, now);
}

/* Makes one decision, for which the clock is read once. */
static void decide(uint64_t now)
{
	int ran = current->sched.vcpu;	/* -1: the idle thread ran */
	struct sched_choice choice;
	struct timer_event *e;
	struct thread *next;
	unsigned int woken;
	uint64_t until;

	needed = false;
	sched_charge(&sched, now);
	if (current != idle)
		timerq_update(&sleepers, &sched, ran);
	for (woken = 0; woken < DUE_MOST && (e = timerq_due(&sleepers, &sched, ran, now)); woken++)
		expire(container_of(e, struct thread, timer), now);
	choice = sched_decide(&sched, now);
	until = timerq_next(&sleepers, &sched, now);
	timer_arm(choice.until < until ? choice.until : until, now);
	next = choice.entity ? container_of(choice.entity, struct thread, sched) : idle;
	trace_switch(next, sched.in_background, now);
	lateness_runs(&sched, next, now);
	cost.decisions++;
	cost.cycles += rdtsc() - now;
	switch_to(next);
}

void dispatch_block(void)
{
	uint64_t now = rdtsc();

	sched_block(&sched, &current->sched, now);
	decide(now);
}

void dispatch_sleep(uint64_t at)
{
	timerq_add(&sleepers, &sched, &current->timer, current->sched.vcpu, at);
	dispatch_block();
}

void dispatch_wake_for(struct thread *t, uint64_t period, uint64_t now)
{
	wake(t, period, now);
	needed = true;
}

void dispatch_wake(struct thread *t)
{
	dispatch_wake_for(t, 0, rdtsc());
}

void dispatch_check(void)
{
	if (needed)
		decide(rdtsc());
}

void dispatch_preempt(void)
{
	if (!needed || !irq_enabled())
		return;
	irq_disable();
	dispatch_check();
	irq_enable();
}

void let_interrupts_in(void)
{
	/*
	 * no interrupt comes in the instruction after STI; if that is PAUSE, QEMU takes none at all
	 */
	__asm__ volatile("sti; nop; cli" : : : "memory");
	/* switch to threads that the caller has woken, since no interrupt does so */
	dispatch_check();
}
