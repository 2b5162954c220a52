// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Resources with immediate priority ceiling: OSEK OS 2.2.3, chapter 8 and 13.4. */
#include "kernel.h"

/* The level of the caller without the resources that it has taken. */
static uint8_t caller_level(void)
{
	return os.where == OS_IN_TASK ? os_conf_of(os.running)->level : os.isr_level;
}

static StatusType id_error(ResourceType id)
{
	StatusType error = os_check_caller(OS_TASK_ISR2);

	if (error == E_OK && id >= os_num_resources)
		error = E_OS_ID;
	return error;
}

StatusType GetResource(ResourceType resource)
{
	bool on = os_lock();
	StatusType error = OS_EXTENDED ? id_error(resource) : E_OK;
	struct os_resource *r = &os_resources[resource];
	uint8_t ceiling;

	if (OS_EXTENDED && error == E_OK &&
	    (r->taken || caller_level() > os_resource_conf[resource].ceiling))
		error = E_OS_ACCESS;
	if (error == E_OK) {
		ceiling = os_resource_conf[resource].ceiling;
		r->taken = true;
		r->level = os.level;
		r->held = os.held;
		os.held = resource + 1;
		if (ceiling > os.level)
			os_set_level(ceiling);
	}
	return os_leave(on, OSServiceId_GetResource, error, resource, 0, 0);
}

StatusType ReleaseResource(ResourceType resource)
{
	bool on = os_lock();
	StatusType error = OS_EXTENDED ? id_error(resource) : E_OK;

	if (OS_EXTENDED && error == E_OK && os.held != resource + 1)
		error = !os_resources[resource].taken &&
			caller_level() > os_resource_conf[resource].ceiling ?
			E_OS_ACCESS : E_OS_NOFUNC;
	if (error == E_OK) {
		os_give_back(&os_resources[resource]);
		os_preempt_in_task();
	}
	return os_leave(on, OSServiceId_ReleaseResource, error, resource, 0, 0);
}
