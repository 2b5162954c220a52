/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef INMATE_DECIMAL_H
#define INMATE_DECIMAL_H

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
void decimal_digits(struct decimal *d, double value);

/*
 * Rounds to the first `keep` digits. The result is the nearest number; if two are equally near, the
 * one whose last digit is even. `keep` may be negative, or larger than the number of digits.
 */
void decimal_round(struct decimal *d, int keep);

#endif
