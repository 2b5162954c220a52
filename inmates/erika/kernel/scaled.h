/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Between ticks of a counter on the system timer, and cycles of the clock. */
#ifndef ERIKA_SCALED_H
#define ERIKA_SCALED_H

#include <stdint.h>

#define OS_NS_PER_MS	1000000u

extern uint64_t os_systimer_epoch;	/* the clock at StartOS() */

/* Returns a * b / by, which is less than 2^64. */
static inline uint64_t os_scaled(uint64_t a, uint64_t b, uint64_t by)
{
	unsigned __int128 product = (unsigned __int128)a * b;
	uint64_t quotient, remainder;

	__asm__("divq %4" : "=a"(quotient), "=d"(remainder)
		: "a"((uint64_t)product), "d"((uint64_t)(product >> 64)), "r"(by) : "cc");
	return quotient;
}

#endif
