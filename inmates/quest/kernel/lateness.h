/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How late threads run after the time for which they asked: a histogram for each VCPU, in the
 * latency page of the cell. The time that a VCPU without budget waits counts too. A thread that is
 * later than the period of its VCPU has missed its deadline.
 */
#ifndef QUEST_LATENESS_H
#define QUEST_LATENESS_H

#include <stdint.h>

struct sched;
struct thread;

/* The time `at` for which `t` asked has come. Interrupts are off. */
void lateness_due(struct thread *t, uint64_t at);

/* `t` has the CPU from `now` on. Interrupts are off. */
void lateness_runs(const struct sched *s, struct thread *t, uint64_t now);

/*
 * Returns how late threads ran on VCPU `vcpu` at most, in cycles, since the last call. It has one
 * caller for each VCPU. Interrupts are off.
 */
uint64_t lateness_take(int vcpu);

#endif
