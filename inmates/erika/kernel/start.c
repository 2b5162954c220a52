// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Start: OSEK OS 2.2.3 chapter 5.1, 11.3 and 13.7. */
#include "kernel.h"

AppModeType GetActiveApplicationMode(void)
{
	return os.mode;
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
	os_part *const *part;
	StatusType error;
	TaskType id;

	os_lock();
	error = os.now.where ? E_OS_STATE : mode >= os_num_modes ? E_OS_ID : E_OK;
	if (error != E_OK) {
		os_fail(OSServiceId_StartOS, error, mode, 0, 0);
		return;
	}
	os.mode = mode;
	os_stacks_paint();
	os_port_start();
	if (OS_TRACE)
		os_trace(OS_TRACE_START, mode, os_port_khz());
	os_call_hook(os_hooks.startup, OS_IN_STARTUP);
	os.now.where = OS_IN_IDLE;
	for (id = 0; id < os_num_tasks; id++) {
		__asm__("" : "+r"(mode));	/* `1 << mode` before the loop is more code */
		if (os_task_conf[id].autostart >> mode & 1)
			os_activate(id);
	}
	for (part = os_parts; *part; part++)
		(*part)(mode);
	idle();
}
