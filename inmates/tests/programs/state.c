// SPDX-License-Identifier: GPL-2.0-only
/*
 * state: checks the state that a program has before and after system calls: flags, rounding,
 * registers. Also ends programs whose threads wait. Prints a line for each failure; the last line
 * has the count. state fresh: checks that exec() resets the state. state read: reads a key. state
 * ready: writes the byte behind a prompt.
 */
#include <quest.h>
#include <quest/calls.h>
#include <stdio.h>
#include <string.h>
#include "check.h"

#define FLAG_DF		0x400ul
#define FLAG_NT		0x4000ul
#define FLAG_AC		0x40000ul
#define FLAGS		(FLAG_DF | FLAG_NT | FLAG_AC)
#define MXCSR_USUAL	0x1F80u
#define MXCSR_TO_ZERO	0x7F80u
#define X87_USUAL	0x037F
#define X87_TO_ZERO	0x0F7F
#define FRESH		42
#define GRANDCHILD_US	5000000
#define CALL_GETPID	1
#define CALL_EXEC	4
#define CALL_USLEEP	7
#define CALL_WRITE	16

/* Does not write to the red zone below RSP, which the compiler may use. */
#define SKIP_RED_ZONE	"leaq -128(%%rsp), %%rsp; "
#define BACK		"leaq 128(%%rsp), %%rsp"

static unsigned long flags_now(void)
{
	unsigned long flags;

	__asm__ volatile(SKIP_RED_ZONE "pushfq; popq %0; " BACK : "=r"(flags));
	return flags;
}

/*
 * Makes a call with the RFLAGS bits `flags` set. Stores in `*after` which of these bits are set
 * when the call returns.
 */
static long call_with(unsigned long flags, long number, long a, long b, long c,
		      unsigned long *after)
{
	long answer = number;

	__asm__ volatile(SKIP_RED_ZONE "pushfq; orq %[flags], (%%rsp); popfq; syscall; "
			 "pushfq; popq %[after];"
			 "pushq %[after]; andq %[none], (%%rsp); popfq; " BACK
			 : "+a"(answer), [after] "=&r"(*after)
			 : [flags] "r"(flags), [none] "r"(~FLAGS), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory", "cc");
	*after &= FLAGS;
	return answer;
}

static void check_flags(unsigned long flags)
{
	static char *const argv[] = { "state", "fresh", NULL };
	unsigned long after;
	int pid;

	CHECK(call_with(flags, CALL_GETPID, 0, 0, 0, &after) == getpid() && after == flags);
	CHECK(call_with(flags, CALL_USLEEP, 1000, 0, 0, &after) == 0 && after == flags);
	CHECK(call_with(flags, CALL_WRITE, 1, (long)"", 0, &after) == 0 && after == flags);
	pid = fork();
	if (!pid)
		_exit((int)call_with(flags, CALL_EXEC, (long)"state", (long)argv, 0, &after));
	CHECK(status_of(pid) == FRESH << 8);
}

static unsigned int mxcsr(void)
{
	unsigned int now;

	__asm__ volatile("stmxcsr %0" : "=m"(now));
	return now & ~0x3Fu;	/* without the bits of earlier exceptions */
}

static unsigned short x87(void)
{
	unsigned short now;

	__asm__ volatile("fnstcw %0" : "=m"(now));
	return now;
}

static void round_to(unsigned int sse, unsigned short old)
{
	__asm__ volatile("ldmxcsr %0; fldcw %1" : : "m"(sse), "m"(old));
}

/* Returns true if the state is as exec() must set it. */
static int fresh(void)
{
	uint64_t low = 1;

	__asm__ volatile("movq %%xmm7, %0" : "=r"(low));
	return mxcsr() == MXCSR_USUAL && x87() == X87_USUAL && !low &&
	       !(flags_now() & FLAGS) ? FRESH : 1;
}

static void check_rounding(void)
{
	static char *const argv[] = { "state", "fresh", NULL };
	int pid;

	round_to(MXCSR_TO_ZERO, X87_TO_ZERO);
	pid = fork();
	if (!pid)
		_exit(mxcsr() == MXCSR_TO_ZERO && x87() == X87_TO_ZERO ? FRESH : 1);
	CHECK(status_of(pid) == FRESH << 8);
	pid = fork();
	if (!pid) {
		__asm__ volatile("movq %0, %%xmm7" : : "r"(~0ul) : "xmm7");
		_exit(exec("state", argv));
	}
	CHECK(status_of(pid) == FRESH << 8);
	CHECK(mxcsr() == MXCSR_TO_ZERO && x87() == X87_TO_ZERO);
	round_to(MXCSR_USUAL, X87_USUAL);
}

static void *sleeps(void *arg)
{
	(void)usleep(arg ? 20000 : 100000000);
	return arg;
}

static void *joins(void *thread)
{
	return (void *)(long)pthread_join(*(pthread_t *)thread, NULL);
}

/* A process that waits for a child, for a thread, for a word or for time can be killed. */
static void check_ends(void)
{
	static uint32_t word;
	struct timeval before, after;
	pthread_t t;
	int pid, way;

	for (way = 0; way < 4; way++) {
		pid = fork();
		if (!pid) {
			if (way == 0 && fork())
				(void)waitpid(-1, NULL, 0);
			if (way == 1 && !pthread_create(&t, NULL, sleeps, NULL))
				(void)pthread_join(t, NULL);
			if (way == 2)
				(void)wait_word(&word, 0, -1);
			(void)usleep(way == 0 ? GRANDCHILD_US : 100000000);
			_exit(1);
		}
		(void)usleep(5000);
		(void)gettimeofday(&before, NULL);
		CHECK(kill(pid, SIGKILL) == 0 && status_of(pid) == SIGKILL);
		(void)gettimeofday(&after, NULL);
		CHECK(after.tv_sec - before.tv_sec < GRANDCHILD_US / 1000000 - 1);
	}
}

static void check_joiners(void)
{
	pthread_t late, joiner;
	void *answer;

	CHECK(pthread_create(&late, NULL, sleeps, &late) == 0 &&
	      pthread_create(&joiner, NULL, joins, &late) == 0);
	(void)usleep(5000);
	CHECK(pthread_join(late, NULL) == ESRCH && pthread_detach(late) == ESRCH);
	CHECK(pthread_join(joiner, &answer) == 0 && !answer);
}

static int read_a_key(void)
{
	char key;
	ssize_t n = read(0, &key, 1);

	printf("state: %ld keys\n", n);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "fresh"))
		return fresh();
	if (argc > 1 && !strcmp(argv[1], "read"))
		return read_a_key();
	if (argc > 1 && !strcmp(argv[1], "ready"))
		return write(1, "x\004x\n", 4) != 4;
	if (argc > 1 && !strcmp(argv[1], "late"))
		return usleep(300000);		/* ends long after the shell has its prompt back */
	check_flags(FLAG_NT);
	check_flags(FLAG_DF);
	check_flags(FLAG_AC);
	check_rounding();
	check_ends();
	check_joiners();
	return checked("state");
}
