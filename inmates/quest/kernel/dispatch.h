/* SPDX-License-Identifier: GPL-2.0-only */
/* Carries out what the scheduler decides. Interrupts are off in every call. */
#ifndef QUEST_DISPATCH_H
#define QUEST_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>
#include "thread.h"

#define QUANTUM_US	10000

/* `idle` runs now and whenever nobody else wants to. Sets the timer vector's handler. */
void dispatch_init(struct thread *idle, unsigned int timer_vector);
void dispatch_admit(struct thread *t, unsigned int priority);

/* The current thread stops wanting the CPU (state already set) and gives it up. */
void dispatch_block(void);

/* As dispatch_block(), woken at TSC `at` at the latest. */
void dispatch_sleep(uint64_t at);
void dispatch_wake(struct thread *t);

/* Choose again if something has changed since the last choice. */
void dispatch_check(void);
bool dispatch_needed(void);

/* First thing on a new thread's stack. */
void dispatch_arrived(void);

struct thread *dispatch_current(void);

/* Cycles used by `t`, its present turn included. */
uint64_t dispatch_used(const struct thread *t);

#endif
