/* SPDX-License-Identifier: GPL-2.0-only */
/* The queue of keys, from any source. */
#ifndef QUEST_INPUT_H
#define QUEST_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../kernel/wait.h"

#define INPUT_LENGTH	256		/* length of the queue: a power of two */

/*
 * input_put() appends a byte, or drops it if the queue is full. input_wake() then wakes the threads
 * that wait for one. Only threads call these.
 */
void input_put(uint8_t byte);
void input_wake(void);

/* Returns how many bytes still fit. */
size_t input_room(void);

/*
 * Returns the next byte. If the queue is empty, sleeps until a byte comes, until TSC `at`
 * (UINT64_MAX: no limit) or until input_poke(). Returns -1 if there is still no byte.
 */
int input_get_until(uint64_t at);

/* Wakes the kernel's threads that wait for a byte, so that they check again. From any context. */
void input_poke(void);

/* The threads that wait for a byte. */
const struct wait_queue *input_readers(void);

/*
 * input_try() returns the next byte, or -1. input_wait() sleeps until there is one, or until
 * wake_threads_of(). Interrupts are off.
 */
int input_try(void);
void input_wait(void);

/* Returns whether input_try() has a byte. */
bool input_ready(void);

/* Drops the queue up to and including a ^C, if there is one. Interrupts are off. */
bool input_drop_break(void);

/*
 * Sets the function that ^C calls at once, from any context, instead of being queued. NULL: no
 * function, and ^C is queued.
 */
void input_set_break(void (*act)(void));

#endif
