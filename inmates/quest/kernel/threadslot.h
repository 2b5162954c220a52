/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of threads and their kernel stacks. Interrupts are off in every call. */
#ifndef QUEST_THREADSLOT_H
#define QUEST_THREADSLOT_H

#include <stdint.h>
#include "thread.h"

/* Slot 0 is for the idle thread, which has a stack already. Returns the slot; NULL: no memory. */
struct thread *threadslots_init(void);

/*
 * Takes a slot other than the last `kept`, with a stack; its state is still THREAD_FREE. Returns 0
 * or minus an error (errors.h): EAGAIN: no slot, ENOMEM.
 */
int threadslot_take(struct thread **taken, unsigned int kept);

/* Returns how many slots are free, other than the last `kept` and those that are promised. */
unsigned int threadslots_free(unsigned int kept);

/*
 * Promises a slot and the pages of its stack to a thread that ends, and will be created again.
 * threadslot_redeem() ends the promise: then it may take them.
 */
void threadslot_promise(void);
void threadslot_redeem(void);

/* Frees the slot and the stack of `t`. No CPU may be using the stack. */
void threadslot_free(struct thread *t);

/* Returns the thread in slot `i` (0 to THREAD_MAX - 1); NULL if the slot is free. */
struct thread *threadslot_at(int i);

/* Collects the threads of `p` by their numbers in `p` (NULL: no such thread). */
void threadslots_collect(const struct process *p, struct thread *by_slot[]);

/* Returns the thread whose stack guard contains `address`; NULL if there is no such thread. */
const struct thread *threadslot_guarded(uint64_t address);

#endif
