/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The inmate's output. It goes to the text screen, and to the cell's stream or,
 * if the inmate runs alone, to the serial port. Usable from any context,
 * interrupt handlers too.
 */
#ifndef INMATE_CONSOLE_H
#define INMATE_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Call it after cell_detect(). If the inmate runs alone, it also sets up the serial port. */
void console_init(void);

void console_write(const char *text, size_t n);
void print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * For an inmate that runs alone, after serial_enable_irq(). console_fits() returns true if the
 * queue has room for so many bytes. console_when_full() sets what console_write() calls, with
 * interrupts on, while there is no room. Without such a function, or with interrupts off,
 * console_write() waits for the serial port.
 */
bool console_fits(size_t n);
void console_when_full(void (*wait)(void));
void console_wait(void);		/* calls the function that was set */

/*
 * console_flush() waits until all output has left. After console_poll(), console_write() does so
 * each time.
 */
void console_flush(void);
void console_poll(void);

/* Returns the number of bytes written so far. */
uint64_t console_written(void);

/* Returns true if the cursor is at the start of a line of the screen. */
bool console_at_line_start(void);

/*
 * Sets the function that each console_write() calls first, from any context, with interrupts off;
 * NULL: none. The function may call console_write() itself, and is then called again for that
 * output.
 */
void console_before_output(void (*act)(void));

/* Tells the reader of the stream that the shell awaits a line of input (QV_STREAM_READY). */
void console_ready(void);

#endif
