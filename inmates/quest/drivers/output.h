/* SPDX-License-Identifier: GPL-2.0-only */
/* The output of programs. Interrupts are off in every call. */
#ifndef QUEST_OUTPUT_H
#define QUEST_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* length in bytes of the longest text that is written at once */
#define OUTPUT_PIECE	128

/* Returns whether output_write() can write a piece without waiting for a device. */
bool output_ready(void);

/*
 * Lets other threads run while the device may be busy. The caller then checks output_ready() again.
 */
void output_wait(void);

/*
 * Returns how many of `n` bytes may be written at once. The screen scrolls at a new line and at
 * tabs, and an escape sequence may clear it, so there are few of them between two pauses.
 */
size_t output_part(const char *text, size_t n);

/*
 * Writes at most OUTPUT_PIECE bytes. Replaces the bytes in `text` that would mean that the shell
 * awaits a line (QV_STREAM_READY).
 */
void output_write(char *text, size_t n);

#endif
