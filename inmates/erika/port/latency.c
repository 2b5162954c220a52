// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * How late alarms are (LATENCY = TRUE in the OIL file): the time from the tick for which an alarm
 * is set to its action. The latency page has a histogram for each, which `qvctl latency` shows. A
 * cyclic alarm that is later than its cycle has missed its deadline. Only the actions of these
 * alarms take longer; the kernel is the same.
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

void os_act_late(const struct os_action *action)
{
	ptrdiff_t id = (const struct os_alarm_conf *)
		((const char *)action - offsetof(struct os_alarm_conf, action)) - os_alarm_conf;
	const struct os_timer *timer = &os_alarms[id].timer;
	uint64_t now = os_port_cycles(), at = due(timer);

	latency_add_by(os_alarm_late[id].histogram, now > at ? now - at : 0,
		       timer->cycle ? cycles(timer, timer->cycle) : UINT64_MAX);
	os_alarm_late[id].act(action);
}

/* Alone there is no latency page, and latency_add() does nothing. */
void os_start_latency(AppModeType mode)
{
	char name[QV_LATENCY_NAME];
	AlarmType id;

	(void)mode;
	for (id = 0; id < os_num_alarms; id++) {
		if (!os_alarm_late[id].act)
			continue;
		copy_string(name, os_alarm_conf[id].name, sizeof(name));
		os_alarm_late[id].histogram = latency_open(name);
	}
}
