/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Formatted text without a C library.
 *
 * Conversions: d i u o x X c s p %; flags - + space # 0; width and precision (also *); lengths hh h
 * l ll z j t. In programs of Quest also f F e E g G, and the length L: inmates are compiled without
 * floating point. Other conversions are copied.
 */
#ifndef INMATE_PRINTF_H
#define INMATE_PRINTF_H

#include <stdarg.h>
#include <stddef.h>

/* Takes formatted bytes; `n` is never 0. */
typedef void format_sink(void *arg, const char *text, size_t n);

/* Formats into a sink. Returns the number of bytes produced. */
size_t format_to(format_sink *sink, void *arg, const char *fmt, va_list ap);

/*
 * Formats into a buffer of `size` bytes. The text is cut to fit and NUL-terminated
 * (if size is not 0). Returns the length of the whole text, as snprintf() does.
 */
size_t format_buf(char *buf, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
size_t format_vbuf(char *buf, size_t size, const char *fmt, va_list ap);

#endif
