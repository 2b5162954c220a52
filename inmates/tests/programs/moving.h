/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program that does the same work again and again, and wishes to move to another cell, for
 * tests/evaluation. Arguments: SECONDS AT [relax|strict|stay] [KIB]. It has KIB of memory that it
 * writes, wishes to move after AT seconds, and continues. It prints when it began, as a TSC, the
 * number of results in each second, and how long there was no result: at most, and while it moved.
 */
#ifndef TESTS_MOVING_H
#define TESTS_MOVING_H

#include "exchange.h"

#define SECONDS_MAX	60
#define PERIOD_US	100000	/* of its VCPU */
/* its budget begins when the other VCPUs have spent their budgets: then E_m is T - C */
#define AFTER_US	60000

struct gap {
	uint64_t at, length;
};

static unsigned int results[SECONDS_MAX + 1];

/* Prints all but the counts. */
static inline void print_moving(const char *name, int result, uint64_t wish, const struct gap *most,
				const struct gap *moved)
{
	struct quest_migration status;
	struct meminfo memory;

	(void)vcpu_migration_status(&status);
	(void)meminfo(&memory);
	printf("%s: %d, in %s, %u moves, error %d, %lu KiB,\n", name, result, status.cell,
	       status.moves, status.error, (unsigned long)memory.own_kib);
	printf("wish %lu, gap %lu at %lu, moved %lu at %lu\n", wish, most->length, most->at,
	       moved->length, moved->at);
}

/* Does `work` until the time is over; its result is the same each time. */
static inline int move_while(const char *name, int (*work)(void), int argc, char **argv)
{
	unsigned long seconds = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long at = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	const char *how = argc > 3 ? argv[3] : "relax";
	size_t bytes = argc > 4 ? strtoul(argv[4], NULL, 10) << 10 : 0;
	int first = work(), flag = strcmp(how, "strict") ? MIG_RELAX : MIG_STRICT;
	uint64_t begin, last, now, second = 0, wish = 0;
	struct gap most = { 0 }, moved = { 0 }, gap;
	struct quest_migration status;
	char *memory = malloc(bytes + 1);

	if (!seconds || seconds > SECONDS_MAX || !memory)
		return 1;
	memset(memory, 1, bytes + 1);
	align_after(PERIOD_US, AFTER_US);
	begin = last = cycles();
	while (second < seconds) {
		if (!wish && second >= at && strcmp(how, "stay")) {
			wish = cycles() - begin;
			(void)vcpu_migration(0, DEST_ANY, flag);
		}
		if (work() != first)
			printf("%s: another result\n", name);
		pause_cpu();
		now = cycles();
		gap = (struct gap){ last - begin, now - last };
		if (gap.length > most.length)
			most = gap;
		if (wish && !moved.length && !vcpu_migration_status(&status) && status.moves)
			moved = gap;
		last = now;
		results[second]++;
		second = (now - begin) / TSC_HZ;
	}
	print_moving(name, first, wish, &most, &moved);
	print_counts(name, begin, results, seconds);
	return 0;
}

#endif
