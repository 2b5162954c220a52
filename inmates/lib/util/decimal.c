// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The exact decimal digits of a double, which is m * 2^e. Each word holds nine digits, the most
 * significant word first. The number is multiplied or divided by powers of two until e is zero.
 */
#include <stdbool.h>
#include <stdint.h>
#include <inmate/string.h>
#include "decimal.h"

#define BASE		1000000000u
#define DIGITS		9
#define MANTISSA_BITS	52
/* bias of the exponent, for a mantissa that is a whole number */
#define BIAS		1075
/* number of words before the decimal point: 2^1024 has 309 digits */
#define FIRST		38
/* FIRST words, and about 120 for a fraction: 2^-1074 has 1074 digits */
#define WORDS		160

struct words {
	uint32_t word[WORDS];
	/* words [begin, end) are in use; the words of the fraction begin at `point` */
	int begin, point, end;
};

/* Multiplies by 2^bits; at most 29 bits, since BASE * 2^29 is below 2^64. */
static void multiply(struct words *w, int bits)
{
	uint64_t carry = 0;
	int i;

	for (i = w->end - 1; i >= w->begin; i--) {
		carry += (uint64_t)w->word[i] << bits;
		w->word[i] = (uint32_t)(carry % BASE);
		carry /= BASE;
	}
	if (carry)
		w->word[--w->begin] = (uint32_t)carry;
}

/* Divides by 2^bits; at most 9 bits. BASE is a multiple of 2^9, so one more word holds the rest. */
static void divide(struct words *w, int bits)
{
	uint32_t rest = 0, mask = (1u << bits) - 1;
	uint64_t value;
	int i;

	for (i = w->begin; i < w->end; i++) {
		value = (uint64_t)rest * BASE + w->word[i];
		w->word[i] = (uint32_t)(value >> bits);
		rest = (uint32_t)value & mask;
	}
	if (rest)
		w->word[w->end++] = (uint32_t)((uint64_t)rest * BASE >> bits);
}

void decimal_digits(struct decimal *d, double value)
{
	struct words w = { .begin = FIRST - 2, .point = FIRST, .end = FIRST };
	uint64_t bits, mantissa;
	uint32_t word;
	int e, i, k;

	(void)memcpy(&bits, &value, sizeof(bits));
	e = (int)(bits >> MANTISSA_BITS) & 0x7FF;
	mantissa = bits & ((1ull << MANTISSA_BITS) - 1);
	if (e)
		mantissa |= 1ull << MANTISSA_BITS;
	else
		e = 1;
	e -= BIAS;
	w.word[FIRST - 2] = (uint32_t)(mantissa / BASE);
	w.word[FIRST - 1] = (uint32_t)(mantissa % BASE);
	for (; e > 0; e -= e < 29 ? e : 29)
		multiply(&w, e < 29 ? e : 29);
	for (; e < 0; e += -e < DIGITS ? -e : DIGITS)
		divide(&w, -e < DIGITS ? -e : DIGITS);
	d->n = 1 + DIGITS * (w.end - w.begin);
	d->point = 1 + DIGITS * (w.point - w.begin);
	d->digits[0] = 0;
	for (i = w.begin; i < w.end; i++) {
		word = w.word[i];
		for (k = DIGITS; k > 0; k--, word /= 10)
			d->digits[(i - w.begin) * DIGITS + k] = (char)(word % 10);
	}
}

static bool rounds_up(const struct decimal *d, int keep)
{
	int i;

	if (d->digits[keep] != 5)
		return d->digits[keep] > 5;
	for (i = keep + 1; i < d->n; i++)
		if (d->digits[i])
			return true;
	return keep > 0 && d->digits[keep - 1] & 1;
}

void decimal_round(struct decimal *d, int keep)
{
	bool up;
	int i;

	if (keep >= d->n)
		return;
	up = keep > 0 && rounds_up(d, keep);
	for (i = keep > 0 ? keep : 0; i < d->n; i++)
		d->digits[i] = 0;
	for (i = keep - 1; up && i >= 0; i--) {
		up = d->digits[i] == 9;
		d->digits[i] = up ? 0 : (char)(d->digits[i] + 1);
	}
}
