/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads that block until another thread or an interrupt wakes them. */
#ifndef QUEST_WAIT_H
#define QUEST_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include "waitqueue.h"

struct process;

/*
 * Blocks until wake_all(). Interrupts must be off since the caller checked its condition, so that
 * no wake-up is lost in between.
 */
void wait_on(struct wait_queue *q);

/*
 * As wait_on(), until TSC `at` at the latest (UINT64_MAX: no limit). Returns false if the time ran
 * out.
 */
bool wait_on_until(struct wait_queue *q, uint64_t at);

/*
 * Makes all waiters runnable. From any context; preempts at once, or when interrupts are on again.
 */
void wake_all(struct wait_queue *q);

/*
 * As wake_all(), for a queue on which threads of many programs may wait. Interrupts are off, and
 * other threads run meanwhile, but not after the last ones: the caller lets interrupts in. A thread
 * that joins the queue meanwhile continues to wait.
 */
void wake_many(struct wait_queue *q);

/*
 * As wake_all(), for waiters that handle interrupts on I/O VCPU `vcpu`. The VCPU inherits the
 * shortest period of the threads in `served` (NULL: none). The caller is an interrupt that came at
 * TSC `since`. The time since then is charged to the I/O VCPU.
 */
void wake_for(struct wait_queue *q, const struct wait_queue *served, int vcpu, uint64_t since);

/* Wakes thread `t`, which waits. */
void wake_thread(struct thread *t);

/* Wakes all threads of `p` that sleep or wait, so that their system calls return early. */
void wake_threads_of(const struct process *p);

#endif
