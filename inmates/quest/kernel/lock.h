/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks of programs. A lock is a word of the program's memory: 0 when free, else the owner's thread
 * number plus one, and LOCK_AWAITED while threads wait. A program takes and releases a free lock
 * without the kernel. It calls the kernel to wait, and to hand the lock over to the waiter whose
 * VCPU has the shortest period.
 *
 * Priority inheritance: while a thread waits, the owner runs on the waiter's VCPU, in its budget,
 * if that VCPU's period is shorter. If the owner itself waits for a lock, the owner of that lock
 * inherits in the same way. So a waiter is delayed only by the work inside the lock, and not by
 * other work of the owner's VCPU. Inheritance gives no VCPU more than its budget.
 *
 * Interrupts are off in every call.
 */
#ifndef QUEST_LOCK_H
#define QUEST_LOCK_H

#include <stdint.h>
#include "process/process.h"

/*
 * The current thread waits for the lock at `at`, until TSC `until` at most. Returns 0 when it owns
 * the lock, or minus an error.
 */
long lock_take(uint64_t at, uint64_t until);

/* The current thread passes the lock at `at` to the next waiter. Returns 0 or minus an error. */
long lock_release(uint64_t at);

/*
 * Determines all inheritance of `p` again. Call it when the period of a VCPU has changed, or when
 * threads have moved to other VCPUs. lock_inherit_all() lets interrupts in between two programs.
 */
void lock_inherit(const struct process *p);
void lock_inherit_all(void);

#endif
