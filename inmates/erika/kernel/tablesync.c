// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Explicit synchronization of schedule tables: AUTOSAR OS 4.x, 7.4. The synchronization counter has
 * the table's length as modulus.
 */
#include "kernel.h"

/*
 * The deviation of a place from a value, by the shorter way round the table. At half a turn the
 * table is ahead: it waits longer, from whatever side it came there.
 */
static int64_t shortest(int64_t difference, int64_t length)
{
	difference %= length;
	if (difference < 0)
		difference += length;
	return difference > length / 2 ? difference - length : difference;
}

/*
 * The deviation that adjustments can undo: if no point of the table may be moved the shorter way,
 * but some the other way, it is that way round the table. A small deviation needs no adjustment.
 */
static int64_t reachable(const struct os_table_conf *conf, int64_t deviation)
{
	TickType advance = 0, retard = 0;
	uint32_t i;

	if (deviation <= (int64_t)conf->precision && deviation >= -(int64_t)conf->precision)
		return deviation;
	for (i = 0; i < conf->num_points; i++) {
		advance |= conf->points[i].max_advance;
		retard |= conf->points[i].max_retard;
	}
	if (deviation < 0 && !retard && advance)
		return deviation + conf->length;
	return deviation > 0 && !advance && retard ? deviation - conf->length : deviation;
}

/* The begin of a service for a table with explicit synchronization. */
static StatusType enter_explicit(ScheduleTableType id)
{
	StatusType error = os_enter_id(OS_TASK_ISR2, id, os_num_tables);

	if (OS_EXTENDED && error == E_OK && os_table_conf[id].sync != OS_SYNC_EXPLICIT)
		error = E_OS_ID;
	return error;
}

StatusType StartScheduleTableSynchron(ScheduleTableType table)
{
	StatusType error = enter_explicit(table);

	if (error == E_OK && os_tables[table].state != SCHEDULETABLE_STOPPED)
		error = E_OS_STATE;
	if (error == E_OK)
		os_tables[table].state = SCHEDULETABLE_WAITING;
	return os_leave(OSServiceId_StartScheduleTableSynchron, error, table, 0, 0);
}

static void synchronize(ScheduleTableType id, TickType value)
{
	const struct os_table_conf *conf = &os_table_conf[id];
	struct os_table *table = &os_tables[id];

	table->asynchronous = false;
	if (table->state == SCHEDULETABLE_WAITING) {
		table->deviation = 0;
		os_table_run(id, os_counter_ticks(conf->counter) + (conf->length - value),
			     SCHEDULETABLE_RUNNING_AND_SYNCHRONOUS);
	} else {
		int64_t deviation = shortest(os_table_position(id) - value, conf->length);

		os_table_deviates(id, reachable(conf, deviation));
	}
}

StatusType SyncScheduleTable(ScheduleTableType table, TickType value)
{
	StatusType error = enter_explicit(table);

	if (OS_EXTENDED && error == E_OK && value >= os_table_conf[table].length)
		error = E_OS_VALUE;
	if (error == E_OK && (os_tables[table].state == SCHEDULETABLE_STOPPED ||
			      os_tables[table].state == SCHEDULETABLE_NEXT))
		error = E_OS_STATE;
	if (error == E_OK)
		synchronize(table, value);
	return os_leave(OSServiceId_SyncScheduleTable, error, table, value, 0);
}

StatusType SetScheduleTableAsync(ScheduleTableType table)
{
	StatusType error = enter_explicit(table);

	if (error == E_OK && os_tables[table].state < SCHEDULETABLE_RUNNING)
		error = E_OS_STATE;
	if (error == E_OK) {
		os_tables[table].asynchronous = true;
		os_tables[table].state = SCHEDULETABLE_RUNNING;
	}
	return os_leave(OSServiceId_SetScheduleTableAsync, error, table, 0, 0);
}
