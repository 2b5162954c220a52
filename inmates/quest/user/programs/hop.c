// SPDX-License-Identifier: GPL-2.0-only
/*
 * hop [HOPS [MS]]: goes to another cell after each MS milliseconds (1000), and counts. It needs
 * links to and fro: Documentation/how-to/migration.md.
 */
#include <quest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long hops = argc > 1 ? strtol(argv[1], NULL, 10) : -1, n;
	long ms = argc > 2 ? strtol(argv[2], NULL, 10) : 1000;
	struct quest_migration now;

	for (n = 0; hops < 0 || n < hops; n++) {
		(void)vcpu_migration_status(&now);
		printf("hop %ld in %s\n", n, now.cell);
		usleep((useconds_t)ms * 1000);
		if (vcpu_migration_blocking(0, DEST_ANY, MIG_RELAX))
			continue;
		(void)vcpu_migration_status(&now);
		printf("hop stays in %s: %s\n", now.cell,
		       now.error ? strerror(now.error) : "there is no link from here");
	}
	(void)vcpu_migration_status(&now);
	printf("hop ends in %s after %u moves\n", now.cell, now.moves);
	return 0;
}
