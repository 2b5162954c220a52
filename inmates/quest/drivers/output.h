/* SPDX-License-Identifier: GPL-2.0-only */
/* What programs print. Interrupts are off in every call. */
#ifndef QUEST_OUTPUT_H
#define QUEST_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#define OUTPUT_PIECE	128		/* the longest text that is written at once */

/* Returns whether output_write() can write a piece without waiting for a device. */
bool output_ready(void);

/* Lets others run while the device is busy, or for less long; then check output_ready() again. */
void output_wait(void);

/* Writes at most OUTPUT_PIECE bytes. Bytes that mean the shell's call for a line are replaced in `text`. */
void output_write(char *text, size_t n);

#endif
