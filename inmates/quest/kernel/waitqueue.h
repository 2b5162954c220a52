/* SPDX-License-Identifier: GPL-2.0-only */
/* The lists of threads that wait. Pure list handling: wait.h has what threads call. */
#ifndef QUEST_WAITQUEUE_H
#define QUEST_WAITQUEUE_H

#include <stdint.h>

struct thread;

struct wait_queue {
	struct thread *head, *tail;	/* the threads that came first and last */
};

/* Puts `t`, which is on no queue, on `q`, behind the others. */
void waitqueue_join(struct wait_queue *q, struct thread *t);

/* Returns how many threads have joined any queue. Each has that number in .joined when it joins. */
uint64_t waitqueue_joins(void);

/* Takes `t` off the queue that it is on. */
void waitqueue_leave(struct thread *t);

#endif
