// SPDX-License-Identifier: GPL-2.0-only
/*
 * ipicost ROUNDS: measures the cost of a timer event and of an IPI for Linux, in cycles, on CPU 1.
 * timer: the longest gap in a loop that reads the TSC, while a timer signal that is never seen
 * expires. ipi: membarrier(), which interrupts the CPU of the other thread and waits for it.
 * Prints `NAME rounds=N min=N p50=N`.
 */
#define _GNU_SOURCE
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <x86intrin.h>

#define ROUNDS_MAX	10000

static uint64_t took[ROUNDS_MAX];
static volatile int ended, spinning;

static void on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(2);
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void print(const char *name, int rounds)
{
	qsort(took, rounds, sizeof(took[0]), ascending);
	printf("%s rounds=%d min=%lu p50=%lu\n", name, rounds, took[0], took[rounds / 2]);
}

/* Programs the timer, which is one write to the APIC, and takes its interrupt, which is two */
static uint64_t timer_event(int fd)
{
	const struct itimerspec at = { .it_value.tv_nsec = 100000 };
	uint64_t start = __rdtsc(), seen = start, longest = 0, expired;

	timerfd_settime(fd, 0, &at, NULL);
	start = __rdtsc() - start;
	seen = __rdtsc();
	while (read(fd, &expired, sizeof(expired)) != sizeof(expired)) {
		for (int i = 0; i < 200; i++) {
			uint64_t now = __rdtsc();

			if (now - seen > longest)
				longest = now - seen;
			seen = now;
		}
		seen = __rdtsc();
	}
	return start + longest;
}

static void *spin(void *unused)
{
	on_cpu(0);
	spinning = 1;
	while (!ended)
		__asm__ volatile("pause");
	return unused;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 200;
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	pthread_t thread;

	if (rounds < 1 || rounds > ROUNDS_MAX || fd < 0)
		return 2;
	on_cpu(1);
	for (int i = 0; i < rounds; i++)
		took[i] = timer_event(fd);
	print("timer", rounds);
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) ||
	    pthread_create(&thread, NULL, spin, NULL))
		return 2;
	while (!spinning)
		usleep(1000);
	for (int i = 0; i < rounds; i++) {
		uint64_t start = __rdtsc();

		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
		took[i] = __rdtsc() - start;
	}
	ended = 1;
	pthread_join(thread, NULL);
	print("ipi", rounds);
	return 0;
}
