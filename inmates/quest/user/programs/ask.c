// SPDX-License-Identifier: GPL-2.0-only
/*
 * ask CHANNEL [CALLS [sleep]]: lets `answer` in another cell add up numbers, CALLS times (100), and
 * prints how long a call took at most and the bound, which is known before the first call.
 * Documentation/how-to/messages.md explains it.
 */
#include <ipc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NUMBERS		64
#define PAUSE_US	7000	/* the calls begin in all parts of a period */
#define US_PER_MS	1000

static struct ipc end;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Returns how long a call took, in ns, or minus an error. */
static long call(uint64_t first)
{
	uint64_t numbers[NUMBERS], sum, right = 0, begin;
	ssize_t n;
	int i;

	for (i = 0; i < NUMBERS; i++)
		right += numbers[i] = first + (uint64_t)i;
	begin = now_ns();
	n = ipc_call(&end, numbers, sizeof(numbers), &sum, sizeof(sum));
	if (n < 0)
		return n;
	return n == sizeof(sum) && sum == right ? (long)(now_ns() - begin) : -EBADMSG;
}

static void print_ms(const char *what, uint64_t ns)
{
	uint64_t us = (ns + 999) / 1000;

	printf("%s %lu.%03lu ms", what, us / US_PER_MS, us % US_PER_MS);
}

int main(int argc, char **argv)
{
	long calls = argc > 2 ? atol(argv[2]) : 100, i, ns = 0, longest = 0;
	int error = argc > 1 ? ipc_open(&end, argv[1], argc > 3 ? IPC_SLEEPS : IPC_POLLS, 0) :
			       -EINVAL;
	struct ipc_bound bound;

	if (!error)
		error = ipc_connect(&end);
	if (!error)
		error = ipc_bound(&end, NUMBERS * sizeof(uint64_t), sizeof(uint64_t), &bound);
	for (i = 0; i < calls && !error; i++) {
		usleep((useconds_t)(i * PAUSE_US % (10 * PAUSE_US)));
		ns = call((uint64_t)i);
		error = ns < 0 ? (int)ns : 0;
		longest = ns > longest ? ns : longest;
	}
	if (error) {
		perror_of("ask", error);
		return 1;
	}
	printf("ask: %ld calls", i);
	print_ms(", the longest took", (uint64_t)longest);
	print_ms("; bound", bound.now_ns);
	print_ms(", with any VCPUs", bound.any_ns);
	printf("\n");
	return 0;
}
