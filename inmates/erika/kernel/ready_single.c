// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The ready queue for BCC1 and ECC1: at most one task of each level, activated once. */
#include "kernel.h"

uint64_t os_ready_levels;

void os_ready_put(TaskType id, uint8_t level)
{
	(void)id;
	os_ready_levels |= 1ull << (level - 1);
}

TaskType os_ready_take(void)
{
	unsigned int at = 63 ^ __builtin_clzll(os_ready_levels);

	os_ready_levels ^= 1ull << at;
	return os_level_task[at];
}
