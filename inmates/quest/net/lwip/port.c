// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include <lwip/sys.h>
#include "../../kernel/panic.h"

#define MIX	0x9E3779B97F4A7C15ull	/* 2^64 divided by the golden ratio: odd, of even bits */

unsigned char *net_heap;

u32_t sys_now(void)
{
	return (u32_t)(timer_to_us(rdtsc()) / 1000);
}

_Noreturn void net_broken(const char *what)
{
	panic("lwIP: %s", what);
}

/* Numbers that are hard to guess without a look at the TSC of each call (splitmix64). */
unsigned int net_random(void)
{
	static uint64_t state;
	uint64_t z = state += MIX ^ rdtsc() << 1;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ z >> 27) * 0x94D049BB133111EBull;
	return (unsigned int)(z ^ z >> 31);
}
