// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include <inmate/trap.h>
#include "../arch/context.h"
#include "dispatch.h"

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

static struct sched sched;
static struct timerq sleepers;
static struct thread *current, *idle, *departed;
static uint64_t turn_began;		/* TSC when current was last charged */
static bool needed;

static void timer_interrupt(struct trap_frame *frame)
{
	(void)frame;
	timer_fired();
	needed = true;
}

void dispatch_init(struct thread *idle_thread, unsigned int timer_vector)
{
	sched_init(&sched, timer_from_us(QUANTUM_US));
	idle = current = idle_thread;
	sched_entity_init(&sched, &idle->sched, SCHED_PRIORITIES);
	turn_began = rdtsc();
	trap_set_irq(timer_vector, timer_interrupt);
	trap_set_exit(dispatch_check);
}

void dispatch_admit(struct thread *t, unsigned int priority)
{
	sched_entity_init(&sched, &t->sched, priority);
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

uint64_t dispatch_used(const struct thread *t)
{
	return t->sched.used + (t == current ? rdtsc() - turn_began : 0);
}

static void make_ready(struct thread *t, uint64_t now)
{
	t->state = THREAD_READY;
	sched_ready(&sched, &t->sched, now);
}

static void charge_current(uint64_t now)
{
	if (current == idle)
		current->sched.used += now - turn_began;
	else
		sched_charge(&sched, &current->sched, now - turn_began);
	turn_began = now;
}

void dispatch_arrived(void)
{
	if (departed)
		thread_release(departed);
	departed = NULL;
}

static void switch_to(struct thread *next)
{
	struct thread *prev = current;

	if (next == prev)
		return;
	if (prev->state == THREAD_DEAD)
		departed = prev;	/* its stack is in use until we are off it */
	current = next;
	switch_context(&prev->rsp, next->rsp);
	dispatch_arrived();
}

/* One decision, on one reading of the clock. */
static void decide(void)
{
	uint64_t now = rdtsc(), until;
	struct sched_choice choice;
	struct timer_event *e;

	needed = false;
	charge_current(now);
	while ((e = timerq_expire(&sleepers, now)))
		make_ready(container_of(e, struct thread, timer), now);
	choice = sched_pick(&sched, now);
	until = timerq_next(&sleepers);
	timer_arm(choice.until < until ? choice.until : until);
	switch_to(choice.entity ? container_of(choice.entity, struct thread, sched) : idle);
}

void dispatch_block(void)
{
	sched_block(&sched, &current->sched, rdtsc());
	decide();
}

void dispatch_sleep(uint64_t at)
{
	timerq_add(&sleepers, &current->timer, at);
	dispatch_block();
}

void dispatch_wake(struct thread *t)
{
	if (t->timer.queued)
		timerq_remove(&sleepers, &t->timer);
	make_ready(t, rdtsc());
	needed = true;
}

void dispatch_check(void)
{
	if (needed)
		decide();
}
