// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Adjustment of a schedule table's delays by explicit synchronization: AUTOSAR OS 4.x, 7.4. */
#include "kernel.h"

void os_table_deviates(ScheduleTableType id, int64_t deviation)
{
	struct os_table *table = &os_tables[id];
	int64_t size = deviation < 0 ? -deviation : deviation;

	table->moved = 0;
	table->deviation = deviation;
	table->state = size <= os_table_conf[id].precision ?
		       SCHEDULETABLE_RUNNING_AND_SYNCHRONOUS : SCHEDULETABLE_RUNNING;
}

/* A table that is ahead waits longer (MAX_ADVANCE); a table behind waits shorter (MAX_RETARD). */
int64_t os_table_adjustment(ScheduleTableType id, uint32_t next, TickType delay)
{
	const struct os_expiry_point *point = &os_table_conf[id].points[next];
	int64_t by = os_tables[id].deviation;

	if (by > (int64_t)point->max_advance)
		by = point->max_advance;
	if (by < -(int64_t)point->max_retard)
		by = -(int64_t)point->max_retard;
	if (by < -(int64_t)delay)
		by = -(int64_t)delay;
	return by;
}
