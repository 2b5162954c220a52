// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Resources with immediate priority ceiling: OSEK OS 2.2.3, chapter 8 and 13.4. */
#include "kernel.h"

/* The level of the caller without the resources that it has taken. */
static uint8_t caller_level(void)
{
	return os.now.where == OS_IN_TASK ? os_conf_of(os.running)->level : os.now.isr_level;
}

StatusType GetResource(ResourceType resource)
{
	StatusType error = os_enter_id(OS_TASK_ISR2, resource, os_num_resources);
	struct os_resource *r = &os_resources[resource];
	uint8_t ceiling;

	if (OS_EXTENDED && error == E_OK &&
	    (r->taken || caller_level() > os_resource_conf[resource].ceiling))
		error = E_OS_ACCESS;
	if (error == E_OK) {
		ceiling = os_resource_conf[resource].ceiling;
		__asm__("" : "+r"(r));	/* as in os_activate() */
		os_trace(OS_TRACE_TAKE, resource, 0);
		r->taken = os.now.where;	/* OS_IN_TASK or OS_IN_ISR2 */
		r->owner = os.running;
		r->level = os.now.level;
		r->held = os.now.held;
		os.now.held = resource + 1;
		if (ceiling > os.now.level)
			os_set_level(ceiling);
	}
	return os_leave(OSServiceId_GetResource, error, resource, 0, 0);
}

StatusType ReleaseResource(ResourceType resource)
{
	StatusType error = os_enter_id(OS_TASK_ISR2, resource, os_num_resources);

	if (OS_EXTENDED && error == E_OK && os.now.held != resource + 1)
		error = caller_level() > os_resource_conf[resource].ceiling ?
			E_OS_ACCESS : E_OS_NOFUNC;
	if (error == E_OK) {
		os_give_back(&os_resources[resource]);
		os_preempt_in_task();
	}
	return os_leave(OSServiceId_ReleaseResource, error, resource, 0, 0);
}
