// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inmate/string.h>

void *memcpy(void *to, const void *from, size_t n)
{
	void *ret = to;

	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
	return ret;
}

void *memmove(void *to, const void *from, size_t n)
{
	unsigned char *d = to;
	const unsigned char *s = from;

	if (d <= s || d >= s + n)
		return memcpy(to, from, n);
	d += n - 1;
	s += n - 1;
	__asm__ volatile("std; rep movsb; cld" : "+D"(d), "+S"(s), "+c"(n) : : "memory", "cc");
	return to;
}

void *memset(void *to, int byte, size_t n)
{
	void *ret = to;

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(byte) : "memory");
	return ret;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

size_t strlen(const char *s)
{
	const char *end = s;

	while (*end)
		end++;
	return end - s;
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (unsigned char)*a - (unsigned char)*b;
}

size_t copy_string(char *to, const char *from, size_t size)
{
	size_t n = 0;

	for (; n + 1 < size && from[n]; n++)
		to[n] = from[n];
	to[n] = 0;
	return n;
}
