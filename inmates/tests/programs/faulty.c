// SPDX-License-Identifier: GPL-2.0-only
/*
 * faulty KIND MS: a component that beats every ms, and has a fault of one kind after MS ms, if it
 * was started for the first time. With MS 0 it has none. KIND:
 *
 *   crash  reads the address 0        leak   gets 200 pages
 *   exit   ends with status 3         files  opens all descriptors that it can have
 *   hang   beats no longer            late   another thread computes
 *   stall  waits and does nothing     state  as crash, and also counts in a checkpoint
 *   always crashes at every start     none   runs
 *   flip   flips bits of its memory, until something breaks
 *   parent ends with status 0, and leaves a child that runs
 *
 * faulty random SEED: at every start another of these faults, after 1 to 20 ms.
 */
#include <quest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEAT_US		1000
#define LAST_US		100000
#define LEAK		(200l * 4096)

static unsigned long count;		/* of KIND state */
static uint64_t seed;
static unsigned int flips;

static uint64_t now_us(void)
{
	struct timeval tv;

	(void)gettimeofday(&tv, NULL);
	return (uint64_t)tv.tv_sec * 1000000 + (uint64_t)tv.tv_usec;
}

static void crash(void)
{
	*(volatile int *)0 = 1;
}

static void leave(void)
{
	exit(3);
}

static void hang(void)
{
	for (;;)
		(void)usleep(BEAT_US);
}

static void parent(void)
{
	if (!quest_fork())
		hang();
	exit(0);
}

static void stall(void)
{
	uint32_t word = 0;

	for (;;)
		(void)wait_word(&word, 0, -1);
}

static void leak(void)
{
	(void)sbrk(LEAK);
}

static void files(void)
{
	while (dup(1) >= 0)
		;
}

static void *compute(void *arg)
{
	for (;;)
		;
	return arg;
}

/* Both threads are on the same VCPU. */
static void late(void)
{
	pthread_t t;

	(void)pthread_create(&t, NULL, compute, NULL);
}

static uint64_t next(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return seed >> 33;
}

static void *crash_later(void *arg)
{
	(void)usleep(LAST_US);
	crash();
	return arg;
}

/* Flips a bit near the variables of this program, or on the stack. It crashes at last. */
static void flip(void)
{
	unsigned char *stack = __builtin_frame_address(0), *data = (unsigned char *)&seed;
	pthread_t t;

	if (!flips++)
		(void)pthread_create(&t, NULL, crash_later, NULL);
	*(next() & 1 ? stack + next() % 1024 : data - 64 + next() % 256) ^= 1 << next() % 8;
}

static void nothing(void)
{
}

static const struct {
	const char *name;
	void (*fault)(void);
} kinds[] = {
	{ "crash", crash }, { "exit", leave }, { "hang", hang }, { "stall", stall },
	{ "leak", leak }, { "files", files }, { "late", late }, { "flip", flip },
	{ "state", crash },
	{ "always", crash }, { "parent", parent }, { "none", nothing },
};

#define RANDOM_KINDS	8		/* the first ones of kinds[] */

static void fault(const char *kind)
{
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kind, kinds[i].name))
			kinds[i].fault();
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[1] : "none";
	uint64_t ms = argc > 2 ? strtoul(argv[2], NULL, 10) : 0, begun = now_us();
	int starts = recovery_beat();
	bool counts = !strcmp(kind, "state");

	if (!strcmp(kind, "random")) {
		seed = ms << 32 | (unsigned int)starts;
		(void)next();
		kind = kinds[next() % RANDOM_KINDS].name;
		ms = 1 + next() % 20;
		starts = 1;
	}
	if (starts > 1 && strcmp(kind, "always"))
		ms = 0;
	if (counts && recovery_resume(&count, sizeof(count)) > 0)
		printf("faulty: resumes at %s\n", count > 10 ? "its count" : "0");
	for (;;) {
		(void)recovery_beat();
		(void)usleep(BEAT_US);
		count++;
		if (counts)
			(void)recovery_save(&count, sizeof(count));
		if (!ms || now_us() < begun + ms * 1000)
			continue;
		ms = strcmp(kind, "flip") ? 0 : ms;
		fault(kind);
	}
}
