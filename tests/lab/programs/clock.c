// SPDX-License-Identifier: GPL-2.0-only
/*
 * Until SIGTERM, a thread on each CPU reads the clock, one thread at a time. Prints the number of
 * reads and how often the clock went backwards.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t ended;
static int64_t last;
static unsigned long reads, backwards;

static void end(int number)
{
	(void)number;
	ended = 1;
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *look(void *cpu)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)(intptr_t)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	while (!ended) {
		int64_t t;

		pthread_mutex_lock(&lock);
		t = now();
		backwards += t < last;
		last = t;
		reads++;
		pthread_mutex_unlock(&lock);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

int main(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[256];

	signal(SIGTERM, end);
	for (long i = 0; i < cpus; i++)
		if (pthread_create(&threads[i], NULL, look, (void *)i))
			return 2;
	for (long i = 0; i < cpus; i++)
		pthread_join(threads[i], NULL);
	printf("clock reads=%lu backwards=%lu\n", reads, backwards);
	return reads < 10 || backwards;
}
