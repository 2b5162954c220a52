// SPDX-License-Identifier: GPL-2.0-only
/* Functions that the compiler calls by itself. They use whole words, to be fast for 2 MiB. */
#include "cpu.h"

void *memcpy(void *to, const void *from, size_t n)
{
	void *start = to;
	size_t words = n / 8, rest = n % 8;

	asm volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
	asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(rest) : : "memory");
	return start;
}

void *memset(void *to, int c, size_t n)
{
	void *start = to;
	size_t words = n / 8, rest = n % 8;
	u64 pattern = (u8)c * 0x0101010101010101ull;

	asm volatile("rep stosq" : "+D"(to), "+c"(words) : "a"(pattern) : "memory");
	asm volatile("rep stosb" : "+D"(to), "+c"(rest) : "a"(pattern) : "memory");
	return start;
}
