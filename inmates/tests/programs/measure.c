// SPDX-License-Identifier: GPL-2.0-only
/*
 * measure: measures what the kernel's services cost a program, in TSC cycles. Prints one line each:
 *
 *   NAME rounds=N least=CYCLES median=CYCLES
 */
#include <quest.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS_MAX	1000

static uint64_t took[ROUNDS_MAX];

static uint64_t now(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence; rdtsc; lfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

static void system_call(void)
{
	(void)getpid();
}

static void fork_and_wait(void)
{
	int pid = quest_fork();

	if (!pid)
		_exit(0);
	(void)quest_waitpid(pid, NULL, 0);
}

static void fork_exec_and_wait(void)
{
	char *argv[] = { "measure", "nothing", NULL };
	int pid = quest_fork();

	if (!pid)
		_exit(exec("measure", argv));
	(void)quest_waitpid(pid, NULL, 0);
}

static void *nothing(void *arg)
{
	return arg;
}

static void create_and_join(void)
{
	pthread_t t;

	if (!pthread_create(&t, NULL, nothing, NULL))
		(void)pthread_join(t, NULL);
}

/* Measures a sleep that ends at once: the entry to the kernel, a decision, and the return. */
static void sleep_not_at_all(void)
{
	(void)quest_usleep(0);
}

static const struct {
	const char *name;
	int rounds;
	void (*run)(void);
} services[] = {
	{ "system-call", 1000, system_call },
	{ "sleep-0", 200, sleep_not_at_all },
	{ "thread-create-join", 50, create_and_join },
	{ "fork-wait", 50, fork_and_wait },
	{ "fork-exec-wait", 50, fork_exec_and_wait },
};

static void sort(uint64_t *values, int n)
{
	uint64_t value;
	int i, j;

	for (i = 1; i < n; i++) {
		value = values[i];
		for (j = i; j && values[j - 1] > value; j--)
			values[j] = values[j - 1];
		values[j] = value;
	}
}

int main(int argc, char **argv)
{
	unsigned int i;
	uint64_t begin;
	int n;

	if (argc > 1 && !strcmp(argv[1], "nothing"))
		return 0;
	for (i = 0; i < sizeof(services) / sizeof(services[0]); i++) {
		for (n = 0; n < services[i].rounds; n++) {
			begin = now();
			services[i].run();
			took[n] = now() - begin;
		}
		sort(took, n);
		printf("%s rounds=%d least=%lu median=%lu\n", services[i].name, n, took[0],
		       took[n / 2]);
	}
	return 0;
}
