// SPDX-License-Identifier: GPL-2.0-only
/*
 * logger [COUNT] [MS]: prints COUNT lines (default 10), one every MS milliseconds (default 100).
 * Each line says when the program woke, and how late that was.
 */
#include <quest.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t now_us(void)
{
	struct timeval tv;

	(void)gettimeofday(&tv, NULL);
	return (uint64_t)tv.tv_sec * 1000000 + (uint64_t)tv.tv_usec;
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 10, ms = argc > 2 ? atol(argv[2]) : 100, i;
	uint64_t due = now_us(), now;

	for (i = 1; i <= count; i++) {
		due += (uint64_t)ms * 1000;
		now = now_us();
		if (due > now)
			(void)usleep(due - now);
		now = now_us();
		printf("logger: %ld at %lu.%06lu s, %ld us late\n", i, now / 1000000, now % 1000000,
		       (long)(now - due));
	}
	return 0;
}
