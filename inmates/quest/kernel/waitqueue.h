/* SPDX-License-Identifier: GPL-2.0-only */
/* The lists of threads that wait. Pure list handling: wait.h has what threads call. */
#ifndef QUEST_WAITQUEUE_H
#define QUEST_WAITQUEUE_H

struct thread;

struct wait_queue {
	struct thread *head;		/* the thread that came last; .next_waiting came before */
};

/* Puts `t`, which is on no queue, on `q`. */
void waitqueue_join(struct wait_queue *q, struct thread *t);

/* Takes `t` off the queue that it is on. */
void waitqueue_leave(struct thread *t);

#endif
