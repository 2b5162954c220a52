/* SPDX-License-Identifier: GPL-2.0-only */
/* Carries out the decisions of the scheduler. Interrupts are off in every call. */
#ifndef QUEST_DISPATCH_H
#define QUEST_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>
#include "thread.h"

/*
 * Initialises the scheduler. Thread `idle` runs now, and whenever no other thread is runnable. Sets
 * the handler of the timer vector. The end of each interrupt must call dispatch_check().
 */
void dispatch_init(struct thread *idle, unsigned int timer_vector, enum admission_test admission,
		   bool background);

/* Makes a new thread runnable on VCPU `vcpu`, which exists. */
void dispatch_admit(struct thread *t, int vcpu);

/* Moves a thread to VCPU `vcpu`, as sched_bind(). */
int dispatch_bind(struct thread *t, int vcpu);

/*
 * dispatch_sched() returns the scheduler, for the functions on VCPUs (vcpu/). After a change that
 * may alter the decision, they call dispatch_changed().
 */
struct sched *dispatch_sched(void);
void dispatch_changed(void);
void dispatch_vcpu_changed(int vcpu);		/* the parameters of VCPU `vcpu` */

/* Blocks the current thread, whose state the caller has set. */
void dispatch_block(void);

/* As dispatch_block(), but the thread is woken at TSC `at` at the latest. */
void dispatch_sleep(uint64_t at);
void dispatch_wake(struct thread *t);

/*
 * As dispatch_wake() at TSC `now`, for a thread on an I/O VCPU, which inherits `period` (cycles; 0:
 * none).
 */
void dispatch_wake_for(struct thread *t, uint64_t period, uint64_t now);

/* Makes a new decision if something has changed since the last one. */
void dispatch_check(void);

/* As dispatch_check(), but does nothing unless interrupts are on. */
void dispatch_preempt(void);
bool dispatch_needed(void);

/* Long work with interrupts off calls it to let pending interrupts and other threads run. */
void let_interrupts_in(void);

/* A new thread must call it first, on its own stack. */
void dispatch_arrived(void);

struct thread *dispatch_current(void);

/*
 * The cost of all decisions, from the reading of the clock to the switch. It is charged to the
 * threads that run before and after.
 */
struct dispatch_cost {
	uint64_t decisions;
	uint64_t cycles;
};

struct dispatch_cost dispatch_cost(void);

/* Returns the cycles that `t` has used, up to now. */
uint64_t dispatch_used(const struct thread *t);

#endif
