/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the inmate prints: to the text screen, and to the cell's stream or,
 * alone, the serial port. Usable from any context, interrupt handlers too.
 */
#ifndef INMATE_CONSOLE_H
#define INMATE_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* After cell_detect(). Alone it also sets the serial port up. */
void console_init(void);

void console_write(const char *text, size_t n);
void print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Bytes written so far. */
uint64_t console_written(void);

/* Is the cursor at the start of a line of the screen? */
bool console_at_line_start(void);

/*
 * What is to be called first in each console_write(), from any context, with interrupts off; NULL: nothing. It may
 * write itself, and is then called again for that.
 */
void console_before_output(void (*act)(void));

/* Tell a program on the stream that a line of input is awaited (QV_STREAM_READY). */
void console_ready(void);

#endif
