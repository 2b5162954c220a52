// SPDX-License-Identifier: GPL-2.0-only
/*
 * gang words|locks|kill: has all threads that a program can have, each on a VCPU of its own, and
 * makes one call again and again that concerns all of them.
 *
 * words: they wait for a word, and are woken.
 * locks: each holds a lock and waits for the lock of the one before it. Another thread, at best
 *	effort, which has a shorter period than all, waits for the last lock for a moment, so that
 *	all inherit its VCPU and then lose it.
 * kill: the program that has them is killed.
 *
 * Prints "gang: N threads" when all have begun.
 */
#include <quest.h>
#include <quest/calls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER(number, name, args) CALL_##name = number,
enum { QUEST_CALLS(NUMBER) };
#define DO(name, a, b, c) quest_syscall(CALL_##name, (long)(a), (long)(b), (long)(c))

#define THREADS		15
#define FOREVER_S	1000000
#define MOMENT_NS	20000

static volatile uint32_t word;
static volatile int ready;
static uint32_t locks[THREADS];

/* The periods begin above that of best effort, and the last thread has the longest. */
static void bind_to_own(long n)
{
	struct sched_param p = { .type = MAIN_VCPU, .C = 100, .T = 110000 + 500 * n,
				 .unit = VCPU_US };
	int id;

	while ((id = vcpu_create(&p)) < 0)	/* those of the killed program count for a while */
		(void)usleep(1000);
	(void)vcpu_bind_task(id);
	ready++;
}

static struct timespec in(time_t s, long ns)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += s + (t.tv_nsec + ns) / 1000000000;
	t.tv_nsec = (t.tv_nsec + ns) % 1000000000;
	return t;
}

static void *waits(void *arg)
{
	bind_to_own((long)arg);
	for (;;)
		(void)DO(wait_word, &word, 0, 5000000);
	return arg;
}

static void *sleeps(void *arg)
{
	bind_to_own((long)arg);
	for (;;)
		(void)usleep(3000000 + 10000 * (long)arg);
	return arg;
}

static void *holds(void *arg)
{
	long n = (long)arg;
	struct timespec far = in(FOREVER_S, 0);

	(void)DO(lock_word, &locks[n], &far, 0);
	bind_to_own(n);
	while (ready < THREADS)
		(void)usleep(1000);
	if (n)
		(void)DO(lock_word, &locks[n - 1], &far, 0);
	return sleeps(arg);
}

static int fill(void *(*act)(void *))
{
	pthread_t t;
	long n = 0;

	while (n < THREADS && !pthread_create(&t, NULL, act, (void *)n))
		n++;
	while (ready < n)
		(void)usleep(1000);
	return (int)n;
}

static void wake_all(void)
{
	printf("gang: %d threads\n", fill(waits));
	for (;;)
		(void)DO(wake_words, 0, 0, 0);
}

static void inherit_all(void)
{
	struct timespec soon;
	int n;

	(void)vcpu_bind_task(BEST_EFFORT_VCPU);
	n = fill(holds);
	(void)usleep(200000);		/* each waits now */
	printf("gang: %d threads\n", n);
	for (;;) {
		soon = in(0, MOMENT_NS);
		(void)DO(lock_word, &locks[THREADS - 1], &soon, 0);
	}
}

static void kill_all(void)
{
	int ends[2], n, pid, first = 1;

	if (pipe(ends))
		exit(1);
	for (;; first = 0) {
		pid = fork();
		if (!pid) {
			n = fill(sleeps);
			(void)write(ends[1], &n, sizeof(n));
			(void)sleeps((void *)(long)THREADS);
		}
		(void)read(ends[0], &n, sizeof(n));
		if (first)
			printf("gang: %d threads\n", n);
		(void)DO(kill, pid, SIGKILL, 0);
		(void)DO(waitpid, pid, 0, 0);
	}
}

int main(int argc, char **argv)
{
	static const struct sched_param small = { .type = MAIN_VCPU, .C = 1, .T = 1000 };
	const char *mode = argc > 1 ? argv[1] : "words";

	/* the shell gave it a VCPU that another program needs */
	(void)sched_setparam(-1, &small);
	if (!strcmp(mode, "locks"))
		inherit_all();
	else if (!strcmp(mode, "kill"))
		kill_all();
	wake_all();
}
