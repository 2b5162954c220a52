// SPDX-License-Identifier: GPL-2.0-only
/*
 * moves [SECONDS [HOPS [KIB]]]: has a thread for each way to wait, and a thread that calculates.
 * Meanwhile the shell moves the program by detach PID and attach PID, or the program itself moves
 * HOPS times to another cell, with KIB of memory that it checks. Prints a line for each failed
 * check. The last line has the count.
 */
#include <math.h>
#include <quest.h>
#include <stdio.h>
#include <stdlib.h>
#include "check.h"

#define NS_PER_S	1000000000l

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t post;
static struct timespec end;
static long us;
static volatile int stop;
static long hops, kib;
static struct sched_param first;	/* of the VCPU that the program started on */
static uint32_t *memory;
static pthread_t threads[10];
static int num_threads;

static long now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static void start(void *(*fn)(void *))
{
	CHECK(pthread_create(&threads[num_threads++], NULL, fn, NULL) == 0);
}

/*
 * Checks that a wait ends on time: not early, and not late, as it would be if the move began the
 * whole wait again. A program on its way wakes late.
 */
static void *in_time(void)
{
	long late = now_ns() - end.tv_sec * NS_PER_S - end.tv_nsec;

	return (void *)(late >= -1000000 && late < us * 500 ? 0 : late / 1000);
}

static void *sleep_for(void *unused)
{
	(void)unused;
	return usleep((uint64_t)us) ? (void *)-1l : in_time();
}

static void *sleep_until(void *unused)
{
	(void)unused;
	if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL))
		return (void *)-1l;
	return in_time();
}

static void *wait_for_word(void *unused)
{
	static const uint32_t word = 3;

	(void)unused;
	return wait_word(&word, 3, us) == -ETIMEDOUT ? in_time() : (void *)-1l;
}

static void *wait_for_condition(void *unused)
{
	int error;

	(void)unused;
	(void)pthread_mutex_lock(&other);
	error = pthread_cond_timedwait(&never, &other, &end);
	return error == ETIMEDOUT && !pthread_mutex_unlock(&other) ? in_time() : (void *)-1l;
}

static void *wait_for_mutex(void *unused)
{
	(void)unused;
	return (void *)(long)(pthread_mutex_lock(&mutex) || pthread_mutex_unlock(&mutex));
}

static void *wait_for_semaphore(void *unused)
{
	(void)unused;
	return (void *)(long)sem_wait(&post);
}

static double series(void)
{
	double sum = 0;
	int i;

	for (i = 1; i < 20000; i++)
		sum += sqrt(i) / i;
	return sum;
}

static void *calculate(void *unused)
{
	double first = series();
	long wrong = 0;

	(void)unused;
	while (!stop)
		wrong += series() != first;
	return (void *)wrong;
}

static uint32_t pattern(long i, long round)
{
	return (uint32_t)(i * 2654435761u + round);
}

/* Checks the memory, and fills it for the next move. Returns the number of wrong words. */
static long check_memory(long round)
{
	long i, wrong = 0;

	for (i = 0; i < kib * 256; i++) {
		wrong += round && memory[i] != pattern(i, round - 1);
		memory[i] = pattern(i, round);
	}
	return wrong;
}

/* Asks by the parameters of the first VCPU to move. Returns true if it has moved. */
static bool move_by_affinity(void)
{
	struct sched_param there = first;
	struct quest_migration status;

	there.affinity = 1;
	if (quest_sched_setparam(-1, &there))
		return false;
	do {
		(void)usleep(1000);
		(void)vcpu_migration_status(&status);
	} while (status.pending);
	return !status.error;
}

/* Moves again and again. A cell that cannot take the program yet is asked again. */
static void *hop(void *unused)
{
	long round, wrong = 0;

	(void)unused;
	for (round = 0; round < hops; round++) {
		wrong += check_memory(round);
		while (!(round % 2 ? move_by_affinity() :
			 vcpu_migration_blocking(0, DEST_ANY, MIG_RELAX)))
			(void)usleep(100000);
	}
	return (void *)(wrong + check_memory(round));
}

static void *join_first(void *unused)
{
	void *result = (void *)-1l;

	(void)unused;
	return pthread_join(threads[0], &result) ? (void *)-1l : result;
}

/* A thread that begins after a move runs on the VCPU that the program started on. */
static void *begin_later(void *first)
{
	struct sched_param p;

	return (void *)(long)(vcpu_getparams(&p) || p.C != ((struct sched_param *)first)->C ||
			      p.T != ((struct sched_param *)first)->T);
}

int main(int argc, char **argv)
{
	int id = vcpu_create_main(2, 200), second = vcpu_create_main(1, 250), pid = getpid(), i;
	struct sched_param p;
	void *result;

	us = (argc > 1 ? atol(argv[1]) : 3) * 1000000;
	hops = argc > 2 ? atol(argv[2]) : 0;
	kib = argc > 3 ? atol(argv[3]) : 0;
	memory = malloc((size_t)kib << 10);
	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += us / 1000000;
	CHECK(vcpu_getparams(&first) == 0);
	CHECK(id > 0 && second > 0 && vcpu_bind_task(id) == 0 && pthread_mutex_lock(&mutex) == 0 &&
	      sem_init(&post, 0, 0) == 0);
	start(sleep_for);
	start(sleep_until);
	start(wait_for_word);
	start(wait_for_condition);
	start(wait_for_mutex);
	start(wait_for_semaphore);
	start(calculate);
	start(join_first);
	start(hop);
	printf("moves: ready\n");
	CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == 0);
	CHECK(pthread_join(threads[--num_threads], &result) == 0 && !result);
	CHECK(pthread_create(&threads[num_threads], NULL, begin_later, &first) == 0 &&
	      pthread_join(threads[num_threads], &result) == 0 && !result);
	CHECK(quest_sched_setparam(-1, &first) == 0);
	stop = 1;
	CHECK(pthread_mutex_unlock(&mutex) == 0 && sem_post(&post) == 0 &&
	      (hops || getpid() == pid));
	for (i = 1; i < num_threads; i++) {
		CHECK(pthread_join(threads[i], &result) == 0);
		if (result)
			printf("moves: thread %d: %ld\n", i, (long)result);
		CHECK(!result);
	}
	CHECK(vcpu_getparams(&p) == 0 && p.C == 2 && p.T == 200);
	CHECK(vcpu_bind_task(second) == 0 && vcpu_getparams(&p) == 0 && p.C == 1 && p.T == 250);
	CHECK(vcpu_destroy(id, 0) == 0 && vcpu_destroy(second, 1) == 0 &&
	      vcpu_bind_task(second) == -ENOVCPU);
	return checked("moves");
}
