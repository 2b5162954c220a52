// SPDX-License-Identifier: GPL-2.0-only
/*
 * hostile race [ROUNDS]   one thread asks for more memory than there is, again and again; another uses what
 *                         comes and goes. It may be killed; nobody else may notice.
 * hostile flood           16 MiB to the console in one call: ^C ends it all the same
 */
#include <quest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUCH		(16l << 20)
#define FORKS		20
#define SPELL_US	20000

static volatile char *edge;		/* where the heap ended */

static void *ask(void *arg)
{
	for (;;)
		if (!failed(sbrk(512l << 20)))
			return arg;
}

/* uname() tells without a fault whether memory is there. */
static void use(void)
{
	long i;

	for (;;) {
		while (uname((void *)edge) < 0)
			;
		for (i = 0; i < 100000; i++)
			*(volatile long *)edge = -1;
	}
}

static int race(long rounds)
{
	pthread_t t;
	int pid, status, killed = 0;
	long i;

	for (i = 0; i < rounds; i++) {
		pid = fork();
		if (!pid) {
			edge = sbrk(0);
			edge = (char *)(((uintptr_t)edge + 4095) & ~4095ul);
			if (pthread_create(&t, NULL, ask, NULL) == 0)
				use();
			_exit(1);
		}
		(void)usleep(SPELL_US);
		(void)kill(pid, SIGKILL);
		if (waitpid(pid, &status, 0) != pid)
			return 1;
		killed += WIFSIGNALED(status);
	}
	printf("hostile: %ld rounds, %d killed\n", rounds, killed);
	return 0;
}

/* What a console does not show: the time is the kernel's */
static int flood(void)
{
	char *room = malloc(MUCH);

	if (!room) {
		perror_of("hostile", -ENOMEM);
		return 1;
	}
	memset(room, 1, MUCH);
	if (write(1, room, MUCH) < 0)
		return 1;
	printf("hostile: the flood is over\n");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "race"))
		return race(argc > 2 ? atol(argv[2]) : FORKS);
	if (argc > 1 && !strcmp(argv[1], "flood"))
		return flood();
	printf("usage: hostile race [ROUNDS] | flood\n");
	return 2;
}
