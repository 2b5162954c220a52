// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Actions of alarms, expiry points and notifications. ErrorHook() sees their errors as those of the
 * service of the same effect. */
#include "kernel.h"

void os_act_activate(const struct os_action *action)
{
	StatusType error = os_activate(action->id);

	if (error != E_OK)
		os_report(OSServiceId_ActivateTask, error, action->id, 0, 0);
}

void os_act_event(const struct os_action *action)
{
	StatusType error = os_set_event(action->id, action->mask);

	if (error != E_OK)
		os_report(OSServiceId_SetEvent, error, action->id, action->mask, 0);
}

void os_act_callback(const struct os_action *action)
{
	os_call_hook(action->callback, OS_IN_CALLBACK);
}

void os_act_increment(const struct os_action *action)
{
	StatusType error = os_counter_increment(action->id);

	if (error != E_OK)
		os_report(OSServiceId_IncrementCounter, error, action->id, 0, 0);
}
