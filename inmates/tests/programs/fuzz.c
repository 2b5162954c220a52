// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz [ROUNDS] [SEED]: makes every system call with hostile arguments, from children, since many
 * calls end their caller. Each child begins with another call of the table, so each call is tried
 * if there are as many rounds as calls. The kernel must survive. A process may end only if it
 * called for that.
 */
#include <quest.h>
#include <quest/calls.h>
#include <stdio.h>
#include <stdlib.h>

#define CALLS_PER_CHILD	40
#define PATIENCE_MS	1000
#define EXIT_CALL	0
#define SLEEP_CALL	7
#define READ_CALL	15
#define WRITE_CALL	16
#define THREAD_CALL	18
#define THREAD_EXIT_CALL	19
#define WAIT_CALL	29
#define NANOSLEEP_CALL	33
#define WAIT_UNTIL_CALL	34
#define LOCK_CALL	35
#define POLL_CALL	65
#define IMAGE		0x400000400000l

static const struct timespec moment = { 0, 1000 };
static uint64_t state;
static char buffer[4096];

static const struct {
	const char *name;
	long number;
} calls[] = {
#define NAMED(number, name, args) { #name, number },
	QUEST_CALLS(NAMED)
};

#define NUM_CALLS	(sizeof(calls) / sizeof(calls[0]))

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static long hostile(void)
{
	static const long values[] = {
		0, 1, 2, 3, 4, 8, 15, 16, 31, 100, 4095, 4096, 65536,
		-1, -2, -4096, 0x7FFFFFFF, 0x80000000, 0x100000000,
		0x7FFFFFFFFFFFFFFF, (long)0x8000000000000000,
		0x100000, 0xB8000, 0xFEE00000, 0x400000000000,
		0x3FFFFFFFFFFF, 0x400000200000, 0x400000400000,
		0x400000401000, 0x40003FFFFFF8, 0x400040000000,
		0x7FFFFFFFFFF8, 0x800000000000, (long)0xFFFF800000000000,
	};

	switch (next() % 6) {
	case 0:
		return (long)next();
	case 1:
		return (long)(uintptr_t)buffer + (long)(next() % sizeof(buffer));
	case 2:
		/* addresses at the edges of stack and data */
		return (long)(uintptr_t)&state + (long)(next() % 64) - 32;
	default:
		return values[next() % (sizeof(values) / sizeof(values[0]))];
	}
}

/*
 * Limits sizes and times, since a call that waits without end or floods the console tests nothing
 * further.
 */
static void one_call(long number)
{
	long a = hostile(), b = hostile(), c = hostile();

	if (number == SLEEP_CALL && (uint64_t)a > 1000)
		a = 1000;
	if (number == NANOSLEEP_CALL || number == WAIT_UNTIL_CALL)
		c = c & 1 ? (long)(uintptr_t)&moment : c | (long)0x8000000000000000;
	if (number == LOCK_CALL)
		b = b & 1 ? (long)(uintptr_t)&moment : b | (long)0x8000000000000000;
	if ((number == WAIT_CALL || number == POLL_CALL) && (uint64_t)c > 1000)
		c = 1000;
	if (number == READ_CALL && !(int)a)
		a = 3;
	if (number == WRITE_CALL && ((int)a == 1 || (int)a == 2))
		c &= 7;
	if (number == THREAD_CALL && a >= IMAGE && a < (long)(uintptr_t)buffer)
		/* a thread that starts in this program's code may never end */
		a = (long)(uintptr_t)buffer;
	(void)quest_syscall(number, a, b, c);
}

static void child(long round)
{
	long number;
	int i;

	one_call(calls[round % NUM_CALLS].number);
	for (i = 1; i < CALLS_PER_CHILD; i++) {
		number = next() % 8 ? calls[next() % NUM_CALLS].number : hostile();
		if ((number == EXIT_CALL || number == THREAD_EXIT_CALL) && next() % 16)
			continue;	/* without this, most children would end early */
		one_call(number);
	}
	_exit(0);
}

/* Returns waitpid()'s status of child `pid`. Kills a child that waits without end. */
static int end_of(int pid, int *status)
{
	int i, ended;

	for (i = 0; i < PATIENCE_MS; i++) {
		ended = waitpid(pid, status, WNOHANG);
		if (ended)
			return ended;
		(void)usleep(1000);
	}
	(void)kill(pid, SIGKILL);
	return waitpid(pid, status, 0);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 100, i, ended[2] = { 0, 0 };
	int status, pid;

	state = argc > 2 ? (uint64_t)atol(argv[2]) | 1 : 88172645463325252ull;
	for (i = 0; i < rounds; i++) {
		pid = quest_fork();
		if (pid < 0) {
			perror_of("fork", pid);
			return 1;
		}
		if (!pid)
			child(i);
		state += 0x9E3779B97F4A7C15;
		(void)next();
		if (end_of(pid, &status) != pid) {
			printf("fuzz: child %d is lost\n", pid);
			return 1;
		}
		ended[WIFSIGNALED(status)]++;
	}
	printf("\nfuzz: %ld children, %ld ended, %ld were killed, %lu of %lu calls tried\n", rounds,
	       ended[0], ended[1],
	       (unsigned long)rounds < NUM_CALLS ? (unsigned long)rounds : NUM_CALLS, NUM_CALLS);
	return 0;
}
