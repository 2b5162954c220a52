/* SPDX-License-Identifier: GPL-2.0-only */
/* The keyboard queue, whatever the keys come from. */
#ifndef QUEST_INPUT_H
#define QUEST_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../kernel/wait.h"

#define INPUT_LENGTH	256		/* a power of two */

/* Append a byte and wake the reader; dropped when the queue is full. From any context. */
void input_put(uint8_t byte);

/* Bytes that still fit. */
size_t input_room(void);

/* Next byte; sleeps until there is one, until TSC `at` (UINT64_MAX: no limit) or input_poke(). -1: none. */
int input_get_until(uint64_t at);

/* Whoever waits for a byte looks again, or does something else. From any context. */
void input_poke(void);

/* Who waits for a byte. */
const struct wait_queue *input_readers(void);

/* Next byte, -1: none. Sleep until there is one, or earlier (thread_interrupt_all()). Interrupts off. */
int input_try(void);
void input_wait(void);

/* Drop what is queued up to a ^C, if one is. Interrupts off. */
bool input_drop_break(void);

/* What ^C does at once instead of being queued; NULL: nothing. From any context. */
void input_set_break(void (*act)(void));

#endif
