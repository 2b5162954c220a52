// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Alarms: OSEK OS 2.2.3 chapter 9 and 13.6. */
#include "kernel.h"

static void expire(struct os_timer *timer)
{
	ptrdiff_t id = (const struct os_alarm *)timer - os_alarms;
	const struct os_action *action = &os_alarm_conf[id].action;

	os_trace(OS_TRACE_ALARM, (uint32_t)id, 0);
	action->act(action);
}

/* Called twice: not inline saves 40 bytes. */
static __attribute__((noinline))
void start(AlarmType id, unsigned int absolute, TickType time, TickType cycle)
{
	CounterType counter = os_alarm_conf[id].counter;
	struct os_timer *timer = &os_alarms[id].timer;

	timer->cycle = cycle;
	os_counter_arm(counter, timer, os_counter_due(counter, absolute, time), expire);
}

void os_start_alarms(AppModeType mode)
{
	const struct os_alarm_conf *conf;
	AlarmType id;

	for (id = 0; id < os_num_alarms; id++) {
		__asm__("" : "+r"(mode));	/* as in StartOS() */
		conf = &os_alarm_conf[id];
		if (conf->modes >> mode & 1)
			start(id, conf->start, conf->time, conf->cycle);
	}
}

StatusType GetAlarmBase(AlarmType alarm, AlarmBaseRefType info)
{
	StatusType error = os_enter_reader(OS_READERS);

	if (OS_EXTENDED && error == E_OK && alarm >= os_num_alarms)
		error = E_OS_ID;
	if (OS_EXTENDED && error == E_OK && !info)
		error = E_OS_PARAM_POINTER;
	if (error == E_OK)
		*info = os_counter_conf[os_alarm_conf[alarm].counter].base;
	return os_leave_reader(OSServiceId_GetAlarmBase, error, alarm, (uintptr_t)info);
}

StatusType GetAlarm(AlarmType alarm, TickRefType tick)
{
	StatusType error = os_enter_id(OS_READERS, alarm, os_num_alarms);
	const struct os_timer *timer = &os_alarms[alarm].timer;

	if (OS_EXTENDED && error == E_OK && !tick)
		error = E_OS_PARAM_POINTER;
	if (error == E_OK && !timer->expire)
		error = E_OS_NOFUNC;
	if (error == E_OK) {
		int64_t left = (int64_t)(timer->due - os_counter_ticks(timer->counter));

		*tick = left > 0 ? (TickType)left : 0;
	}
	return os_leave(OSServiceId_GetAlarm, error, alarm, (uintptr_t)tick, 0);
}

/* Errors of Set...Alarm(). */
static StatusType set_error(AlarmType id, TickType time, TickType cycle)
{
	const AlarmBaseType *base = &os_counter_conf[os_alarm_conf[id].counter].base;

	if (time > base->maxallowedvalue)
		return E_OS_VALUE;
	if (cycle && (cycle < base->mincycle || cycle > base->maxallowedvalue))
		return E_OS_VALUE;
	return E_OK;
}

static StatusType set(AlarmType alarm, TickType time, TickType cycle, enum os_service service)
{
	unsigned int absolute = service - OSServiceId_SetRelAlarm;
	StatusType error = os_enter_id(OS_TASK_ISR2, alarm, os_num_alarms);

	if (OS_EXTENDED && error == E_OK)
		error = set_error(alarm, time, cycle);
	if (error == E_OK && !(absolute | time))	/* SWS_Os_00304: in standard status, too */
		error = E_OS_VALUE;
	if (error == E_OK && os_alarms[alarm].timer.expire)
		error = E_OS_STATE;
	if (error == E_OK)
		start(alarm, absolute, time, cycle);
	return os_leave(service, error, alarm, time, cycle);
}

StatusType SetRelAlarm(AlarmType alarm, TickType increment, TickType cycle)
{
	return set(alarm, increment, cycle, OSServiceId_SetRelAlarm);
}

StatusType SetAbsAlarm(AlarmType alarm, TickType start, TickType cycle)
{
	return set(alarm, start, cycle, OSServiceId_SetAbsAlarm);
}

StatusType CancelAlarm(AlarmType alarm)
{
	StatusType error = os_enter_id(OS_TASK_ISR2, alarm, os_num_alarms);

	if (error == E_OK && !os_alarms[alarm].timer.expire)
		error = E_OS_NOFUNC;
	if (error == E_OK)
		os_counter_disarm(&os_alarms[alarm].timer);
	return os_leave(OSServiceId_CancelAlarm, error, alarm, 0, 0);
}
