/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * MIG_STRICT: the moment at which a program can move so that none of its VCPUs loses a part of its
 * budget (Ye Li's dissertation, section 4.3.2). Interrupts are off in every call.
 */
#ifndef QUEST_MIGRATION_MOMENT_H
#define QUEST_MIGRATION_MOMENT_H

#include <stdint.h>

struct process;

/*
 * Returns E_m: for how many cycles from `now` on no thread of `p` can run at its priority. A thread
 * that sleeps wakes at its time, and a thread on a VCPU without budget gets the next one. 0: a
 * thread runs, or waits for something outside of the program, such as a key. SCHED_NEVER: all
 * threads wait for each other.
 */
uint64_t mig_slack(const struct process *p, uint64_t now);

#endif
