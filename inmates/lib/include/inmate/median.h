/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef INMATE_MEDIAN_H
#define INMATE_MEDIAN_H

#include <stdint.h>

/* Returns the median of three measurements, so a single disturbed measurement has no effect. */
static inline uint64_t median3(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t low = a < b ? a : b, high = a < b ? b : a;

	if (c < low)
		return low;
	return c > high ? high : c;
}

#endif
