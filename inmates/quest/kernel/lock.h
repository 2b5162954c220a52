/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks of programs: a word of the program's memory that holds the owner's thread number plus one, 0 when free, and
 * LOCK_AWAITED while threads wait. A program takes and releases a free lock without the kernel; the kernel is called to
 * wait, and to hand a lock over to the waiter whose VCPU has the shortest period.
 *
 * Inheritance: while a thread waits, the owner runs on the waiter's VCPU, in its budget, if that one's period is
 * shorter; so does whoever the owner itself waits for. A waiter is thus delayed by what runs inside the lock, and not by
 * what else the owner's VCPU has to wait for. No VCPU gets more than its budget by it.
 *
 * Interrupts are off in every call.
 */
#ifndef QUEST_LOCK_H
#define QUEST_LOCK_H

#include <stdint.h>
#include "process/process.h"

/* The current thread waits for the lock at `at` until TSC `until` at most. 0: it owns it; or minus an error. */
long lock_take(uint64_t at, uint64_t until);

/* The current thread gives the lock at `at` to the next that waits for it. 0 or minus an error. */
long lock_release(uint64_t at);

/* A VCPU's period has changed, or threads have other VCPUs: inherit anew. */
void lock_inherit(const struct process *p);
void lock_inherit_all(void);

#endif
