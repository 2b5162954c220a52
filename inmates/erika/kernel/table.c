// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Schedule tables: AUTOSAR OS 4.x, 7.3 and 8.4. The timer of a running table is armed for its next
 * expiry point, or after the last one for its end (point = num_points).
 */
#include "kernel.h"

static ScheduleTableType table_id(const struct os_timer *timer)
{
	return (ScheduleTableType)((const struct os_table *)timer - os_tables);
}

static void stop(struct os_table *table)
{
	table->state = SCHEDULETABLE_STOPPED;
	if (table->next) {
		os_tables[table->next - 1].state = SCHEDULETABLE_STOPPED;
		os_tables[table->next - 1].before = 0;
	}
	if (table->before)
		os_tables[table->before - 1].next = 0;
	table->next = 0;
	table->before = 0;
}

static void run_actions(const struct os_expiry_point *point)
{
	uint32_t i;

	for (i = 0; i < point->num_actions; i++)
		point->actions[i].act(&point->actions[i]);
}

/* Lets the table expire at the current point. Returns the ticks until the next one, or the end. */
static TickType pass_point(ScheduleTableType id)
{
	const struct os_table_conf *conf = &os_table_conf[id];
	struct os_table *table = &os_tables[id];
	uint32_t at = table->point, next = at + 1 < conf->num_points ? at + 1 : 0;
	TickType end = next ? conf->points[next].offset : conf->length;
	TickType delay = end - conf->points[at].offset;
	bool follows = conf->sync == OS_SYNC_EXPLICIT && !table->asynchronous;

	os_trace(OS_TRACE_POINT, id, at);
	table->point = at + 1;
	if (follows)
		os_table_deviates(id, table->deviation - table->moved);
	table->moved = 0;
	run_actions(&conf->points[at]);
	if (follows && (next || conf->periodic))
		table->moved = os_table_adjustment(id, next,
						   delay + (next ? 0 : conf->points[0].offset));
	table->carry = 0;
	if (table->moved < 0 && (TickType)-table->moved > delay) {
		table->carry = table->moved + delay;
		return 0;
	}
	return (TickType)(delay + table->moved);
}

static void expire(struct os_timer *timer);

/* The table `next` begins where the table `id` ends. */
static void hand_over(ScheduleTableType id, ScheduleTableType next)
{
	struct os_table *from = &os_tables[id], *to = &os_tables[next];

	to->before = 0;
	to->asynchronous = from->asynchronous;
	to->deviation = from->deviation - (from->moved - from->carry);
	from->next = 0;
	os_table_run(next, from->timer.due, from->state);
	stop(from);
}

/* At the end of the table. Returns whether the table begins again, after `*delay` ticks. */
static bool begin_again(ScheduleTableType id, TickType *delay)
{
	const struct os_table_conf *conf = &os_table_conf[id];
	struct os_table *table = &os_tables[id];

	if (table->next) {
		hand_over(id, table->next - 1);
		return false;
	}
	if (!conf->periodic) {
		stop(table);
		return false;
	}
	table->point = 0;
	*delay = (TickType)(conf->points[0].offset + table->carry);
	table->carry = 0;
	return true;
}

static void expire(struct os_timer *timer)
{
	ScheduleTableType id = table_id(timer);
	const struct os_table_conf *conf = &os_table_conf[id];
	struct os_table *table = &os_tables[id];
	uint64_t due = timer->due;
	TickType delay;

	do {
		if (table->point < conf->num_points)
			delay = pass_point(id);
		else if (!begin_again(id, &delay))
			return;
		/* no action stops the table: ErrorHook() may not, and tasks run later */
	} while (!delay);
	os_counter_arm(conf->counter, timer, due + delay, expire);
}

void os_table_run(ScheduleTableType id, uint64_t start, ScheduleTableStatusType state)
{
	const struct os_table_conf *conf = &os_table_conf[id];
	struct os_table *table = &os_tables[id];

	table->state = state;
	table->point = 0;
	table->moved = 0;
	table->carry = 0;
	os_counter_arm(conf->counter, &table->timer, start + conf->points[0].offset, expire);
}

int64_t os_table_position(ScheduleTableType id)
{
	const struct os_table_conf *conf = &os_table_conf[id];
	const struct os_table *table = &os_tables[id];
	uint64_t now = os_counter_ticks(conf->counter);
	TickType next = table->point < conf->num_points ? conf->points[table->point].offset :
			conf->length;

	return (int64_t)next - (int64_t)(table->timer.due - now);
}

static TickType max_value(ScheduleTableType id)
{
	return os_counter_conf[os_table_conf[id].counter].base.maxallowedvalue;
}

static void start_relative(ScheduleTableType id, TickType offset)
{
	os_tables[id].asynchronous = true;
	os_table_run(id, os_counter_due(os_table_conf[id].counter, false, offset),
		     SCHEDULETABLE_RUNNING);
}

static void start_absolute(ScheduleTableType id, TickType start)
{
	os_tables[id].asynchronous = true;
	os_table_run(id, os_counter_due(os_table_conf[id].counter, true, start),
		     os_table_conf[id].sync == OS_SYNC_IMPLICIT ?
		     SCHEDULETABLE_RUNNING_AND_SYNCHRONOUS : SCHEDULETABLE_RUNNING);
}

void os_start_tables(AppModeType mode)
{
	const struct os_table_conf *conf;
	ScheduleTableType id;

	for (id = 0; id < os_num_tables; id++) {
		conf = &os_table_conf[id];
		if (!(conf->modes >> mode & 1))
			continue;
		if (conf->start == OS_START_ABSOLUTE)
			start_absolute(id, conf->time);
		else if (conf->start == OS_START_RELATIVE)
			start_relative(id, conf->time);
		else
			os_tables[id].state = SCHEDULETABLE_WAITING;
	}
}

static StatusType rel_error(ScheduleTableType id, TickType offset)
{
	TickType first = os_table_conf[id].points[0].offset, max = max_value(id);

	if (os_table_conf[id].sync == OS_SYNC_IMPLICIT)
		return E_OS_ID;
	return !offset || first > max || offset > max - first ? E_OS_VALUE : E_OK;
}

StatusType StartScheduleTableRel(ScheduleTableType table, TickType offset)
{
	StatusType error = os_enter_id(OS_TASK_ISR2, table, os_num_tables);

	if (OS_EXTENDED && error == E_OK)
		error = rel_error(table, offset);
	if (error == E_OK && os_tables[table].state != SCHEDULETABLE_STOPPED)
		error = E_OS_STATE;
	if (error == E_OK)
		start_relative(table, offset);
	return os_leave(OSServiceId_StartScheduleTableRel, error, table, offset, 0);
}

StatusType StartScheduleTableAbs(ScheduleTableType table, TickType start)
{
	StatusType error = os_enter_id(OS_TASK_ISR2, table, os_num_tables);

	if (OS_EXTENDED && error == E_OK && start > max_value(table))
		error = E_OS_VALUE;
	if (error == E_OK && os_tables[table].state != SCHEDULETABLE_STOPPED)
		error = E_OS_STATE;
	if (error == E_OK)
		start_absolute(table, start);
	return os_leave(OSServiceId_StartScheduleTableAbs, error, table, start, 0);
}

StatusType StopScheduleTable(ScheduleTableType table)
{
	StatusType error = os_enter_id(OS_TASK_ISR2, table, os_num_tables);

	if (error == E_OK && os_tables[table].state == SCHEDULETABLE_STOPPED)
		error = E_OS_NOFUNC;
	if (error == E_OK) {
		if (os_tables[table].timer.expire)	/* it may wait for its start */
			os_counter_disarm(&os_tables[table].timer);
		stop(&os_tables[table]);
	}
	return os_leave(OSServiceId_StopScheduleTable, error, table, 0, 0);
}

static StatusType next_error(ScheduleTableType from, ScheduleTableType to)
{
	return to >= os_num_tables || os_table_conf[from].counter != os_table_conf[to].counter ||
	       os_table_conf[from].sync != os_table_conf[to].sync ? E_OS_ID : E_OK;
}

StatusType NextScheduleTable(ScheduleTableType from, ScheduleTableType to)
{
	StatusType error = os_enter_id(OS_TASK_ISR2, from, os_num_tables);
	struct os_table *table = &os_tables[from];

	if (OS_EXTENDED && error == E_OK)
		error = next_error(from, to);
	if (error == E_OK && (table->state == SCHEDULETABLE_STOPPED ||
			      table->state == SCHEDULETABLE_NEXT))
		error = E_OS_NOFUNC;
	if (error == E_OK && os_tables[to].state != SCHEDULETABLE_STOPPED)
		error = E_OS_STATE;
	if (error == E_OK) {
		if (table->next)
			stop(&os_tables[table->next - 1]);
		table->next = to + 1;
		os_tables[to].before = from + 1;
		os_tables[to].state = SCHEDULETABLE_NEXT;
	}
	return os_leave(OSServiceId_NextScheduleTable, error, from, to, 0);
}

StatusType GetScheduleTableStatus(ScheduleTableType table, ScheduleTableStatusRefType status)
{
	StatusType error = os_enter_reader(OS_TASK_ISR2);

	if (OS_EXTENDED && error == E_OK && table >= os_num_tables)
		error = E_OS_ID;
	if (OS_EXTENDED && error == E_OK && !status)
		error = E_OS_PARAM_POINTER;
	if (error == E_OK)
		*status = os_tables[table].state;
	return os_leave_reader(OSServiceId_GetScheduleTableStatus, error, table, (uintptr_t)status);
}
