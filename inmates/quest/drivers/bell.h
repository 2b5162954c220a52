/* SPDX-License-Identifier: GPL-2.0-only */
/* Bells of channels: interrupts by which another end says that it has written. */
#ifndef QUEST_BELL_H
#define QUEST_BELL_H

#include <stdbool.h>
#include <stdint.h>
#include "../kernel/waitqueue.h"

/*
 * Sets the handlers of bells, if a channel has one, or the cell may open channels at run time. An
 * I/O VCPU serves them. The vectors of all bells should have one priority class. Returns false if
 * there is no memory.
 */
bool bells_start(void);

/*
 * For a channel at run time: returns a vector that is not in use, with its handler set; 0: all are
 * in use. bell_set_vector() makes it the bell of channel `n`; 0: the channel has no bell.
 */
uint8_t bell_free_vector(void);
void bell_set_vector(unsigned int n, uint8_t vector);

/* Calls `hook` after each bell of channel `n`, with interrupts off. Bells may have become one. */
void bell_set_hook(unsigned int n, void (*hook)(void));

/*
 * Returns the threads that wait for the bell of channel `n`: of the kernel, and of programs. The
 * I/O VCPU that serves the bell inherits the shortest period of their VCPUs.
 */
struct wait_queue *bell_waiters(unsigned int n);

/*
 * To wait for an item: take the number of bells, try, and if there is no item, wait for a bell that
 * came after that number was taken. So a bell in between is not lost. bell_wait() blocks the thread
 * on its VCPU, and returns false at TSC `at` (UINT64_MAX: no limit). Without a bell it sleeps for a
 * millisecond.
 */
uint64_t bell_count(unsigned int n);
bool bell_wait(unsigned int n, uint64_t seen, uint64_t at);

/* Returns the I/O VCPU that serves the bells; SCHED_NO_VCPU: the cell has no bells. */
int bell_vcpu(void);

/*
 * Rings as if a bell had come, and returns the cycles until the handler has woken the caller, which
 * is a thread that may block. Only if there is a bell_vcpu().
 */
uint64_t bell_try(void);

#endif
