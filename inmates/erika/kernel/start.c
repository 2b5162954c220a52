// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Start: OSEK OS 2.2.3 chapter 5.1, 11.3 and 13.7. */
#include "kernel.h"

AppModeType GetActiveApplicationMode(void)
{
	return os.mode;
}

static void activate_tasks(void)
{
	TaskType id;

	for (id = 0; id < os_num_tasks; id++)
		if (os_task_conf[id].autostart >> os.mode & 1)
			os_activate(id);
}

static void idle(void)
{
	for (;;) {
		os_preempt();
		if (os_hooks.idle) {
			os_port_on();
			os_hooks.idle();
			os_port_off();
		} else {
			os_port_idle();
		}
	}
}

/* The context of this function becomes idle. */
void StartOS(AppModeType mode)
{
	bool on = os_lock();
	os_part *const *part;

	if (os.where || mode >= os_num_modes) {
		os_report(OSServiceId_StartOS, os.where ? E_OS_STATE : E_OS_ID, mode, 0, 0);
		os_unlock(on);
		return;
	}
	os.mode = mode;
	os_stacks_paint();
	os_port_start();
	os_call_hook(os_hooks.startup, OS_IN_STARTUP);
	os.where = OS_IN_IDLE;
	activate_tasks();
	for (part = os_parts; *part; part++)
		(*part)(mode);
	idle();
}
