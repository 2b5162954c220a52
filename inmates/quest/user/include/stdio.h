/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Conversions: inmate/printf.h. No floating point. Output goes out when the call ends. */
#ifndef QUEST_STDIO_H
#define QUEST_STDIO_H

#include <stdarg.h>
#include <stddef.h>

int printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int vprintf(const char *fmt, va_list ap);
int snprintf(char *to, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int puts(const char *line);
int putchar(int c);
int getchar(void);		/* a key, not echoed; EOF: the program runs in the background */
#define EOF (-1)

/* "WHAT: " and strerror(error) on a line. */
void perror_of(const char *what, int error);

#endif
