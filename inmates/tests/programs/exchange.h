/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ping, rate and pong: programs in two cells that exchange messages (ipc.h), for tests/evaluation.
 * Both ends poll. Times are cycles of the TSC.
 */
#ifndef TESTS_EXCHANGE_H
#define TESTS_EXCHANGE_H

#include <ipc.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MESSAGE_MAX	(4 << 20)
#define STEPS		1000	/* of a busy wait between two instructions PAUSE */

/* of the machine with repeatable time, in which an instruction takes 1 ns */
#define TSC_HZ		1000000000ull

/* At the beginning of a message */
struct request {
	uint32_t reply;		/* bytes that the receiver replies to a request */
	uint32_t sleep_us;	/* the receiver sleeps afterwards */
	uint32_t last;		/* 1: the receiver ends */
};

static inline uint64_t cycles(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/* The emulator lets the next CPU run at a PAUSE, so that the clocks of both cells stay together. */
static inline void pause_cpu(void)
{
	__asm__ volatile("pause" : : : "memory");
}

/* Returns the CPU time of this thread in ns. */
static inline uint64_t cpu_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* xorshift64; returns a number from 0 to `limit` - 1, for a `limit` that is not 0. */
static inline uint64_t random_below(uint64_t *seed, uint64_t limit)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (*seed >> 11) % limit;
}

/* Prints the counts of `n` seconds in lines that no screen breaks, after a name and a TSC. */
static inline void print_counts(const char *name, uint64_t begin, const unsigned int *counts,
				unsigned long n)
{
	unsigned long i;

	printf("%s: %lu:", name, begin);
	for (i = 0; i < n; i++)
		printf("%s%u", i % 8 ? " " : "\n", counts[i]);
	printf("\n");
}

/* Sleeps until the budget is whole, and the TSC is a multiple of `period_us` plus `us`. */
static inline void align_after(uint64_t period_us, uint64_t us)
{
	usleep((useconds_t)(2 * period_us));
	usleep((useconds_t)(period_us + us - cycles() / (TSC_HZ / 1000000) % period_us));
}

static inline void align(uint64_t period_us)
{
	align_after(period_us, 0);
}

/* Keeps the CPU until this thread has used `us` of it. */
static inline void work(uint64_t us)
{
	uint64_t end = cpu_ns() + us * 1000;
	volatile int i;

	while (us && cpu_ns() < end) {
		for (i = 0; i < STEPS; i++)
			;
		pause_cpu();
	}
}

#endif
