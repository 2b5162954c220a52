// SPDX-License-Identifier: GPL-2.0-only
/*
 * The witness in Linux: a thread wakes every MS milliseconds and records its worst gap, another
 * checks a pattern in memory. Both report in a mapped file: beat FILE MS. The program ends with
 * the machine, or when `end` of the file is set.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PATTERN		(4u << 20)	/* bytes */

struct shown {
	uint64_t beats;
	uint64_t worst_ns;	/* the reader sets it to 0 to restart */
	uint64_t pattern_rounds;
	uint64_t pattern_wrong;
	uint64_t end;		/* the reader sets this to end the program */
};

static volatile struct shown *shown;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *watch_pattern(void *unused)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	uint64_t *memory = malloc(PATTERN), i;

	(void)unused;
	if (!memory)
		exit(2);
	for (i = 0; i < PATTERN / 8; i++)
		memory[i] = i * 0x9E3779B97F4A7C15u;
	while (!shown->end) {
		for (i = 0; i < PATTERN / 8; i++)
			shown->pattern_wrong += ((volatile uint64_t *)memory)[i] !=
				i * 0x9E3779B97F4A7C15u;
		shown->pattern_rounds++;
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void beat(int64_t period)
{
	int64_t last = now(), next = last, gap;
	struct timespec t;

	while (!shown->end) {
		next += period;
		if (next < last)
			next = last + period;
		t.tv_sec = next / 1000000000;
		t.tv_nsec = next % 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		gap = now() - last;
		last += gap;
		if ((uint64_t)gap > shown->worst_ns)
			shown->worst_ns = (uint64_t)gap;
		shown->beats++;
	}
}

int main(int argc, char **argv)
{
	const struct sched_param high = { .sched_priority = 50 };
	pthread_t pattern;
	int fd;

	if (argc != 3 || atoi(argv[2]) <= 0)
		return 2;
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, 4096))
		return 2;
	shown = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shown == MAP_FAILED || pthread_create(&pattern, NULL, watch_pattern, NULL))
		return 2;
	if (mlockall(MCL_CURRENT) || sched_setscheduler(0, SCHED_FIFO, &high))
		return 2;
	puts("beating");
	fflush(stdout);
	beat(atoi(argv[2]) * 1000000ll);
	pthread_join(pattern, NULL);
	return 0;
}
