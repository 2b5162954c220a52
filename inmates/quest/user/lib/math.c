// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <math.h>

#define LN2		0.69314718055994530942
#define LIMIT		700.0
#define TERMS		18

/* Computes e^x = 2^n e^r with |r| <= ln 2 / 2, and e^r by its power series. */
double exp(double x)
{
	double r, term = 1, sum = 1, two;
	long n;
	int i;

	if (x > LIMIT)
		return __builtin_inf();
	if (x < -LIMIT)
		return 0;
	n = (long)(x / LN2 + (x < 0 ? -0.5 : 0.5));
	r = x - (double)n * LN2;
	for (i = 1; i < TERMS; i++) {
		term *= r / i;
		sum += term;
	}
	for (two = n < 0 ? 0.5 : 2, n = n < 0 ? -n : n; n; n--)
		sum *= two;
	return sum;
}
