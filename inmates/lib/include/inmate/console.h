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

/*
 * Alone, after serial_enable_irq(): does the queue have room for so many bytes? And what to call,
 * with interrupts on, while it has none; without it, or with interrupts off, console_write()
 * waits for the serial port.
 */
bool console_fits(size_t n);
void console_when_full(void (*wait)(void));
void console_wait(void);		/* calls that */

/* Wait until all that was written has left; console_poll(): from now on so does console_write(). */
void console_flush(void);
void console_poll(void);

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
