/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The locks of the front end. A CPU that holds one makes a bounded number of steps in the monitor,
 * where nothing interrupts it. If it faults there, locks_drop() frees what it holds.
 */
#ifndef QV_LOCK_H
#define QV_LOCK_H

#include "cpu.h"

#define LOCK_PATIENCE	1000000u	/* loops; longer than a CPU holds a lock */

/* Tries @tries times. Returns false if another CPU holds the lock that long */
static inline bool lock_take(const struct pcpu *cpu, enum front_lock which, u32 tries)
{
	for (; tries; tries--) {
		if (atomic_replace(&me()->locks[which], 0, cpu->index + 1))
			return true;
		pause();
	}
	return false;
}

static inline void lock_drop(enum front_lock which)
{
	__atomic_store_n(&me()->locks[which], 0, __ATOMIC_SEQ_CST);
}

/* Frees all locks that this CPU held when it faulted */
static inline void locks_drop(const struct pcpu *cpu)
{
	enum front_lock i;

	for (i = 0; i < FRONT_LOCKS; i++)
		if (me()->locks[i] == cpu->index + 1)
			lock_drop(i);
}

#endif
