// SPDX-License-Identifier: GPL-2.0-only
/*
 * crowd sleep|pipe: has nearly all threads that programs can have, at best effort. Another program
 * with a child still fits.
 *
 * sleep: all sleep until the same time, again and again.
 * pipe: all read from one pipe, into which a byte is written again and again.
 *
 * Prints "crowd: N threads" when all have begun.
 */
#include <quest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP_NS		2000000l
#define PROGRAMS	17

static const struct sched_param small = { .type = MAIN_VCPU, .C = 1, .T = 1000 };
static int both[2];

static void sleeps(void)
{
	struct timespec t;
	long ns;

	for (;;) {
		(void)clock_gettime(CLOCK_MONOTONIC, &t);
		ns = (t.tv_sec * 1000000000l + t.tv_nsec) / STEP_NS * STEP_NS + STEP_NS;
		t = (struct timespec){ ns / 1000000000, ns % 1000000000 };
		(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	}
}

static void reads(void)
{
	char byte;

	for (;;)
		(void)read(both[0], &byte, 1);
}

static void *begins(void *arg)
{
	((void (*)(void))arg)();
	return NULL;
}

static int fill(void (*act)(void))
{
	pthread_t t;
	int n = 1;

	while (!pthread_create(&t, NULL, begins, (void *)act))
		n++;
	return n;
}

int main(int argc, char **argv)
{
	void (*act)(void) = argc > 1 && !strcmp(argv[1], "pipe") ? reads : sleeps;
	int report[2], n = 0, some, i, pid;

	/* the shell gave it a VCPU that another program needs */
	(void)sched_setparam(-1, &small);
	if (pipe(both) || pipe(report))
		return 1;
	for (i = 0; i < PROGRAMS && (pid = fork()) >= 0; i++) {
		if (!pid) {
			n = fill(act);
			(void)write(report[1], &n, sizeof(n));
			act();
		}
		if (read(report[0], &some, sizeof(some)) == sizeof(some))
			n += some;
	}
	printf("crowd: %d threads\n", n);
	for (;;) {
		(void)usleep(2000);
		if (act == reads)
			(void)write(both[1], "", 1);
	}
}
