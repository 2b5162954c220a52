// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Moving to another cell: the boolean answers of the papers. */
#include "raw.h"

#define LOOK_US		1000

bool vcpu_migration(uint32_t time, int dest, int flag)
{
	return !quest_vcpu_migration(time, dest, flag);
}

/* The program also sleeps here when it has moved. */
bool vcpu_migration_blocking(uint32_t time, int dest, int flag)
{
	struct quest_migration status;

	if (quest_vcpu_migration(time, dest, flag))
		return false;
	do {
		(void)quest_usleep(LOOK_US);
		(void)quest_vcpu_migration_status(&status);
	} while (status.pending);
	return !status.error;
}
