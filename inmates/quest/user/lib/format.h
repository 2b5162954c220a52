/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Formats text, floating point included. stdio.h lists the conversions. */
#ifndef QUEST_LIB_FORMAT_H
#define QUEST_LIB_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

/* Takes the bytes; `n` is never 0. */
typedef void quest_sink(void *arg, const char *text, size_t n);

/* Formats into a sink. Returns the number of bytes. */
size_t quest_format(quest_sink *sink, void *arg, const char *fmt, va_list ap);

/*
 * The exact decimal digits of a number: `digits[0..n)`, each 0 to 9. The first `point` digits are
 * before the decimal point.
 */
struct decimal {
	int n, point;
	char digits[1 + 9 * 160];
};

/*
 * Converts a finite `value` that is not negative. The first digit is 0, so that rounding can carry
 * into it.
 */
void quest_decimal(struct decimal *d, double value);

/*
 * Rounds to the first `keep` digits. The result is the nearest number; if two are equally near, the
 * one whose last digit is even. `keep` may be negative, or larger than the number of digits.
 */
void quest_decimal_round(struct decimal *d, int keep);

#endif
