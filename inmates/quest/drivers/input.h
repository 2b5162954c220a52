/* SPDX-License-Identifier: GPL-2.0-only */
/* The keyboard queue, whatever the keys come from. */
#ifndef QUEST_INPUT_H
#define QUEST_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include "../kernel/thread.h"

#define INPUT_LENGTH	256		/* a power of two */

/* Append a byte and wake the reader; dropped when the queue is full. From any context. */
void input_put(uint8_t byte);

/* Bytes that still fit. */
size_t input_room(void);

/* Next byte; sleeps until there is one. */
uint8_t input_get(void);

/* Who sleeps in input_get(). */
const struct wait_queue *input_readers(void);

#endif
