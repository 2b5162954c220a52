// SPDX-License-Identifier: GPL-2.0-only
/*
 * hop [HOPS [MS [strict]]]: goes to another cell after each MS milliseconds (1000), and counts. It
 * needs links to and fro: Documentation/how-to/migration.md. With `strict` it works periodically
 * and moves with MIG_STRICT; at the end it prints how late it woke at most.
 */
#include <quest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_MS	1000000l
#define NS_PER_S	1000000000l

static long ms;
static struct timespec next;
static long latest_us;

/* Sleeps until the next period begins, and records how late it woke. */
static void sleep_period(void)
{
	struct timespec now;
	long late;

	next.tv_nsec += ms * NS_PER_MS;
	next.tv_sec += next.tv_nsec / NS_PER_S;
	next.tv_nsec %= NS_PER_S;
	(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	late = (now.tv_sec - next.tv_sec) * 1000000 + (now.tv_nsec - next.tv_nsec) / 1000;
	latest_us = late > latest_us ? late : latest_us;
}

/* Asks to move while it sleeps. Returns true if it has moved when it wakes. */
static bool move_in_period(void)
{
	struct quest_migration status;

	if (!vcpu_migration(0, DEST_ANY, MIG_STRICT))
		return false;
	do {
		sleep_period();
		(void)vcpu_migration_status(&status);
	} while (status.pending);
	return !status.error;
}

static bool move_at_once(void)
{
	usleep((useconds_t)ms * 1000);
	return vcpu_migration_blocking(0, DEST_ANY, MIG_RELAX);
}

int main(int argc, char **argv)
{
	long hops = argc > 1 ? strtol(argv[1], NULL, 10) : -1, n;
	bool strict = argc > 3 && !strcmp(argv[3], "strict");
	struct quest_migration now;

	ms = argc > 2 ? strtol(argv[2], NULL, 10) : 1000;
	(void)clock_gettime(CLOCK_MONOTONIC, &next);
	for (n = 0; hops < 0 || n < hops; n++) {
		(void)vcpu_migration_status(&now);
		printf("hop %ld in %s\n", n, now.cell);
		if (strict ? move_in_period() : move_at_once())
			continue;
		(void)vcpu_migration_status(&now);
		printf("hop stays in %s: %s\n", now.cell,
		       now.error ? strerror(now.error) : "there is no link from here");
	}
	(void)vcpu_migration_status(&now);
	printf("hop ends in %s after %u moves\n", now.cell, now.moves);
	if (strict)
		printf("hop woke %ld us late at most\n", latest_us);
	return 0;
}
