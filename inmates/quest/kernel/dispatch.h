/* SPDX-License-Identifier: GPL-2.0-only */
/* Carries out what the scheduler decides. Interrupts are off in every call. */
#ifndef QUEST_DISPATCH_H
#define QUEST_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>
#include "thread.h"

/*
 * `idle` runs now and whenever nobody else wants to. Sets the timer vector's handler; whoever handles
 * the end of interrupts calls dispatch_check().
 */
void dispatch_init(struct thread *idle, unsigned int timer_vector, enum admission_test admission);

/* A new thread, ready at once, on VCPU `vcpu`, which exists. */
void dispatch_admit(struct thread *t, int vcpu);

/* The scheduler, for vcpu.c; after a change that may ask for another choice: dispatch_changed(). */
struct sched *dispatch_sched(void);
void dispatch_changed(void);

/* The current thread stops wanting the CPU (state already set) and gives it up. */
void dispatch_block(void);

/* As dispatch_block(), woken at TSC `at` at the latest. */
void dispatch_sleep(uint64_t at);
void dispatch_wake(struct thread *t);

/* As dispatch_wake(), at TSC `now`, for one on an I/O VCPU, which inherits `period` (cycles; 0: none). */
void dispatch_wake_for(struct thread *t, uint64_t period, uint64_t now);

/* Choose again if something has changed since the last choice. */
void dispatch_check(void);

/* The same from a thread with interrupts on; otherwise nothing. */
void dispatch_preempt(void);
bool dispatch_needed(void);

/* Long work with interrupts off lets them in here, and with them others. */
void let_interrupts_in(void);

/* First thing on a new thread's stack. */
void dispatch_arrived(void);

struct thread *dispatch_current(void);

/* What deciding has cost so far, from the reading of the clock to the switch. It is in the time of who ran before and after. */
struct dispatch_cost {
	uint64_t decisions;
	uint64_t cycles;
};

struct dispatch_cost dispatch_cost(void);

/* Cycles used by `t`, its present turn included. */
uint64_t dispatch_used(const struct thread *t);

#endif
