// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * How late alarms are (LATENCY = TRUE in the OIL file): the time from the tick for which an alarm
 * is set to its action, and to the begin of the task that it activates. The latency page has a
 * histogram for each, which `qvctl latency` shows. An alarm or task later than the cycle has
 * missed its deadline. Only the actions of these alarms and the begins of these tasks take longer;
 * the kernel is the same.
 */
#include <inmate/latency.h>
#include <inmate/string.h>
#include "../kernel/kernel.h"
#include "../kernel/scaled.h"

/* Returns the time of `ticks` of the alarm's counter, in cycles. */
static uint64_t cycles(const struct os_timer *timer, uint64_t ticks)
{
	uint64_t scale = (uint64_t)os_counter_conf[timer->counter].tick_ns * os_port_khz();

	return os_scaled(scale, ticks, OS_NS_PER_MS);
}

/* Returns when an alarm was due that expires now. If it is cyclic, it is armed again already. */
static uint64_t due(const struct os_timer *timer)
{
	return os_systimer_epoch + cycles(timer, timer->due - timer->cycle);
}

/* An alarm is about to activate a task that is suspended. */
static void activates(TaskType id, uint64_t at, uint64_t deadline)
{
	os_task_late[id].due = at;
	os_task_late[id].deadline = deadline;
}

/* The task begins. Another activation by ActivateTask() has no time for which it was due. */
void os_late_begin(TaskType id)
{
	struct os_task_late *task = &os_task_late[id];
	uint64_t now = os_port_cycles(), due = task->due;

	task->due = 0;
	if (due)
		latency_add_by(task->histogram, now > due ? now - due : 0, task->deadline);
}

void os_act_late(const struct os_action *action)
{
	ptrdiff_t id = (const struct os_alarm_conf *)
		((const char *)action - offsetof(struct os_alarm_conf, action)) - os_alarm_conf;
	const struct os_timer *timer = &os_alarms[id].timer;
	uint64_t now = os_port_cycles(), at = due(timer);
	uint64_t deadline = timer->cycle ? cycles(timer, timer->cycle) : UINT64_MAX;

	latency_add_by(os_alarm_late[id].histogram, now > at ? now - at : 0, deadline);
	if (os_alarm_late[id].act == os_act_activate && !os_tasks[action->id].activations)
		activates(action->id, at, deadline);
	os_alarm_late[id].act(action);
}

static int histogram_of(const char *object)
{
	char name[QV_LATENCY_NAME];

	copy_string(name, object, sizeof(name));
	return latency_open(name);
}

/* Alone there is no latency page, and latency_add() does nothing. */
void os_start_latency(AppModeType mode)
{
	AlarmType id;
	TaskType task;

	(void)mode;
	for (id = 0; id < os_num_alarms; id++) {
		if (!os_alarm_late[id].act)
			continue;
		os_alarm_late[id].histogram = histogram_of(os_alarm_conf[id].name);
	}
	for (task = 0; task < os_num_tasks; task++)
		if (os_task_late[task].counted)
			os_task_late[task].histogram = histogram_of(os_task_conf[task].name);
}
