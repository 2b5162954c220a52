/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Formatted text with floating point. Conversions: stdio.h. */
#ifndef QUEST_LIB_FORMAT_H
#define QUEST_LIB_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

/* Where bytes go; `n` is never 0. */
typedef void quest_sink(void *arg, const char *text, size_t n);

/* Formats into a sink. Returns the number of bytes. */
size_t quest_format(quest_sink *sink, void *arg, const char *fmt, va_list ap);

/* The exact decimal digits of a number: `digits[0..n)`, each 0 to 9, the first `point` before the point. */
struct decimal {
	int n, point;
	char digits[1 + 9 * 160];
};

/* Of a finite `value` that is not negative. The first digit is a 0, for rounding to carry into. */
void quest_decimal(struct decimal *d, double value);

/* Rounds to the first `keep` digits, to the nearest, to the even one if two are as near. `keep` may be beyond what there is, or negative. */
void quest_decimal_round(struct decimal *d, int keep);

#endif
