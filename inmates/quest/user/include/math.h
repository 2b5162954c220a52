/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef QUEST_MATH_H
#define QUEST_MATH_H

static inline double sqrt(double x)
{
	double root;

	__asm__("sqrtsd %1, %0" : "=x"(root) : "x"(x));
	return root;
}

static inline double fabs(double x)
{
	return x < 0 ? -x : x;
}

/* Accurate to 14 digits for |x| up to 700. Beyond that, the result is 0 or infinity. */
double exp(double x);

#endif
