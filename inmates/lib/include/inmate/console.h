/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the inmate prints: to the text screen, and to the cell's stream or,
 * alone, the serial port. Usable from any context, interrupt handlers too.
 */
#ifndef INMATE_CONSOLE_H
#define INMATE_CONSOLE_H

#include <stddef.h>

/* After cell_detect(). Alone it also sets the serial port up. */
void console_init(void);

void console_write(const char *text, size_t n);
void print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Tell a program on the stream that a line of input is awaited (QV_STREAM_READY). */
void console_ready(void);

#endif
