// SPDX-License-Identifier: GPL-2.0-only
/*
 * ticker [TICKS [MS]]: a periodic task (5 ms) that does not drift. It sleeps until times that
 * advance by the period, works, and records how late it woke; a period that is over by then is
 * missed. It uses no function of Quest's own, so it compiles on any system with clock_nanosleep().
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS	1000000l
#define NS_PER_S	1000000000l
#define WORK		20000

static void advance(struct timespec *t, long ns)
{
	t->tv_nsec += ns;
	while (t->tv_nsec >= NS_PER_S) {
		t->tv_nsec -= NS_PER_S;
		t->tv_sec++;
	}
}

static double us_between(const struct timespec *a, const struct timespec *b)
{
	return (double)(b->tv_sec - a->tv_sec) * 1e6 + (double)(b->tv_nsec - a->tv_nsec) / 1e3;
}

static unsigned int work(unsigned int x)
{
	int i;

	for (i = 0; i < WORK; i++)
		x = x * 1664525u + 1013904223u;
	return x;
}

int main(int argc, char **argv)
{
	long ticks = argc > 1 ? strtol(argv[1], NULL, 10) : 40, i;
	long period = (argc > 2 ? strtol(argv[2], NULL, 10) : 5) * NS_PER_MS;
	double late, worst = 0, sum = 0;
	struct timespec start, next, now, bad = { 0, NS_PER_S };
	volatile unsigned int x = 1;
	int error, early = 0, missed = 0;

	if (ticks < 1 || period < NS_PER_MS || period > NS_PER_S) {
		fprintf(stderr, "usage: ticker [TICKS [MS]], 1 to 1000 ms\n");
		return EXIT_FAILURE;
	}
	if (clock_gettime(CLOCK_MONOTONIC, &start)) {
		perror("clock_gettime");
		return EXIT_FAILURE;
	}
	next = start;
	for (i = 0; i < ticks; i++) {
		advance(&next, period);
		do
			error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		while (error == EINTR);
		if (error) {
			fprintf(stderr, "clock_nanosleep: %s\n", strerror(error));
			return EXIT_FAILURE;
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
		late = us_between(&next, &now);
		early += late < 0;
		missed += late * 1000 >= (double)period;
		sum += late;
		if (late > worst)
			worst = late;
		x = work(x);
	}
	if (clock_nanosleep(CLOCK_MONOTONIC, 0, &bad, NULL) != EINVAL ||
	    nanosleep(&bad, NULL) != -1 || errno != EINVAL)
		return EXIT_FAILURE;
	printf("%ld ticks in %.0f ms, %d too early\n", ticks, us_between(&start, &next) / 1e3,
	       early);
	fprintf(stderr, "late by %.1f us in the mean, %.1f us at most, %d missed\n",
		sum / (double)ticks, worst, missed);
	return EXIT_SUCCESS;
}
