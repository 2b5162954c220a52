// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Alarms: OSEK OS 2.2.3 chapter 9 and 13.6. */
#include "kernel.h"

static AlarmType alarm_id(const struct os_timer *timer)
{
	return (AlarmType)((const struct os_alarm *)timer - os_alarms);
}

static void expire(struct os_timer *timer)
{
	AlarmType id = alarm_id(timer);
	const struct os_alarm_conf *conf = &os_alarm_conf[id];
	TickType cycle = os_alarms[id].cycle;

	if (cycle)
		os_counter_arm(conf->counter, timer, timer->due + cycle, expire);
	conf->action.act(&conf->action);
}

/* Arms an alarm for `time` ticks from now, or for the next time that the counter has this value. */
static void start(AlarmType id, enum os_start kind, TickType time, TickType cycle)
{
	CounterType counter = os_alarm_conf[id].counter;
	uint64_t now = os_counter_ticks(counter);

	os_alarms[id].cycle = cycle;
	os_counter_arm(counter, &os_alarms[id].timer, kind == OS_START_ABSOLUTE ?
		       os_counter_next(counter, now, time) : now + time, expire);
}

void os_start_alarms(AppModeType mode)
{
	const struct os_alarm_conf *conf;
	AlarmType id;

	for (id = 0; id < os_num_alarms; id++) {
		conf = &os_alarm_conf[id];
		if (conf->modes >> mode & 1)
			start(id, conf->start, conf->time, conf->cycle);
	}
}

static StatusType id_error(AlarmType id, unsigned int allowed)
{
	StatusType error = os_check_caller(allowed);

	return error == E_OK && id >= os_num_alarms ? E_OS_ID : error;
}

StatusType GetAlarmBase(AlarmType alarm, AlarmBaseRefType info)
{
	bool on = os_lock_for_errors();
	StatusType error = OS_EXTENDED ? id_error(alarm, OS_READERS) : E_OK;

	if (OS_EXTENDED && error == E_OK && !info)
		error = E_OS_PARAM_POINTER;
	if (error == E_OK)
		*info = os_counter_conf[os_alarm_conf[alarm].counter].base;
	return os_leave(on, OSServiceId_GetAlarmBase, error, alarm, (uintptr_t)info, 0);
}

StatusType GetAlarm(AlarmType alarm, TickRefType tick)
{
	bool on = os_lock();
	StatusType error = OS_EXTENDED ? id_error(alarm, OS_READERS) : E_OK;
	const struct os_timer *timer = &os_alarms[alarm].timer;

	if (OS_EXTENDED && error == E_OK && !tick)
		error = E_OS_PARAM_POINTER;
	if (error == E_OK && !timer->expire)
		error = E_OS_NOFUNC;
	if (error == E_OK) {
		uint64_t now = os_counter_ticks(os_alarm_conf[alarm].counter);

		*tick = timer->due > now ? (TickType)(timer->due - now) : 0;
	}
	return os_leave(on, OSServiceId_GetAlarm, error, alarm, (uintptr_t)tick, 0);
}

/* Errors of Set...Alarm(). A relative time is at least 1. */
static StatusType set_error(AlarmType id, enum os_start kind, TickType time, TickType cycle)
{
	StatusType error = id_error(id, OS_TASK_ISR2);
	const AlarmBaseType *base;

	if (error != E_OK)
		return error;
	base = &os_counter_conf[os_alarm_conf[id].counter].base;
	if ((kind != OS_START_ABSOLUTE && !time) || time > base->maxallowedvalue)
		return E_OS_VALUE;
	if (cycle && (cycle < base->mincycle || cycle > base->maxallowedvalue))
		return E_OS_VALUE;
	return E_OK;
}

static StatusType set(AlarmType alarm, enum os_start kind, TickType time, TickType cycle,
		      enum os_service service)
{
	bool on = os_lock();
	StatusType error = OS_EXTENDED ? set_error(alarm, kind, time, cycle) : E_OK;

	if (error == E_OK && os_alarms[alarm].timer.expire)
		error = E_OS_STATE;
	if (error == E_OK)
		start(alarm, kind, time, cycle);
	return os_leave(on, service, error, alarm, time, cycle);
}

StatusType SetRelAlarm(AlarmType alarm, TickType increment, TickType cycle)
{
	return set(alarm, OS_START_RELATIVE, increment, cycle, OSServiceId_SetRelAlarm);
}

StatusType SetAbsAlarm(AlarmType alarm, TickType start, TickType cycle)
{
	return set(alarm, OS_START_ABSOLUTE, start, cycle, OSServiceId_SetAbsAlarm);
}

StatusType CancelAlarm(AlarmType alarm)
{
	bool on = os_lock();
	StatusType error = OS_EXTENDED ? id_error(alarm, OS_TASK_ISR2) : E_OK;

	if (error == E_OK && !os_alarms[alarm].timer.expire)
		error = E_OS_NOFUNC;
	if (error == E_OK)
		os_counter_disarm(os_alarm_conf[alarm].counter, &os_alarms[alarm].timer);
	return os_leave(on, OSServiceId_CancelAlarm, error, alarm, 0, 0);
}
