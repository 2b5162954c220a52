// SPDX-License-Identifier: GPL-2.0-only
/*
 * carry KIB [stay]: has KIB of memory, which it fills; copies a part of it, to measure the cost of
 * a copy in this machine; moves to another cell, and checks the memory there. Prints the time of a
 * copy for each MiB, and the time from its wish to move until it runs there. With `stay` it does
 * not move.
 */
#include "exchange.h"

#define COPY_MAX	(1u << 20)	/* bytes */
#define COPIES		4

/* Copies a part of the lower half of `n` words to the upper half. Returns the time of a MiB. */
static uint64_t ns_of_copy(uint64_t *words, size_t n)
{
	size_t bytes = n / 2 * sizeof(*words) < COPY_MAX ? n / 2 * sizeof(*words) : COPY_MAX;
	uint64_t begin, least = UINT64_MAX, took;
	int i;

	for (i = 0; i < COPIES; i++) {
		begin = cpu_ns();
		memcpy(words + n / 2, words, bytes);
		__asm__ volatile("" : : : "memory");
		took = cpu_ns() - begin;
		least = took < least ? took : least;
	}
	return least * (1 << 20) / bytes;
}

static size_t wrong(const uint64_t *words, size_t n)
{
	size_t i, found = 0;

	for (i = 0; i < n; i++)
		found += words[i] != i * 0x9e3779b97f4a7c15u;
	return found;
}

int main(int argc, char **argv)
{
	size_t n = (argc > 1 ? strtoul(argv[1], NULL, 10) : 64) << 10 >> 3, i;
	uint64_t *words = malloc(n * sizeof(*words)), copy, begin, took;
	struct quest_migration status;
	bool moved, stays = argc > 2 && !strcmp(argv[2], "stay");

	if (!words) {
		perror("carry");
		return 1;
	}
	copy = ns_of_copy(words, n);
	for (i = 0; i < n; i++)
		words[i] = i * 0x9e3779b97f4a7c15u;
	begin = cycles();
	moved = !stays && vcpu_migration_blocking(0, DEST_ANY, MIG_RELAX);
	took = cycles() - begin;
	(void)vcpu_migration_status(&status);
	printf("carry: %s, %lu cycles,\na copy of 1 MiB takes %lu ns, %lu words wrong\n",
	       moved ? "moved" : stays ? "stayed" : strerror(status.error), took, copy,
	       wrong(words, n));
	return !moved && !stays;
}
