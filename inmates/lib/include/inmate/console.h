/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The inmate's output. It goes to the text screen and to the cell's stream. If the inmate runs
 * alone, it goes to the serial port in place of the stream. The functions may be called from any
 * context, such as interrupt handlers.
 */
#ifndef INMATE_CONSOLE_H
#define INMATE_CONSOLE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Call it after cell_detect(). If the inmate runs alone, it also sets up the serial port. */
void console_init(void);

void console_write(const char *text, size_t n);
/* Writes to the stream or the serial port, and not to the screen. */
void console_aside(const char *text, size_t n);
void print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void vprint(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/*
 * Functions for an inmate that runs alone, after serial_enable_irq(). console_fits() returns true
 * if the queue has room for `n` bytes. console_when_full() sets a function. console_write() calls
 * it, with interrupts on, while the queue is full. Without such a function, or with interrupts off,
 * console_write() waits for the serial port.
 */
bool console_fits(size_t n);
void console_when_full(void (*wait)(void));
void console_wait(void);		/* calls the function that was set */

/*
 * console_flush() waits until all output is sent. After console_poll(), each console_write() waits
 * until its output is sent.
 */
void console_flush(void);
void console_poll(void);

/* Returns the number of bytes written so far. */
uint64_t console_written(void);

/* Returns true if the cursor is at the start of a line of the screen. */
bool console_at_line_start(void);

/*
 * Sets the function that each console_write() calls first, in its caller's context, with interrupts
 * off; NULL: no function. The function may call console_write(), which then calls the function
 * again.
 */
void console_before_output(void (*act)(void));

/* Writes QV_STREAM_READY to the stream: the shell awaits a line of input. */
void console_ready(void);

#endif
