// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Hooks and errors: OSEK OS 2.2.3 chapter 11. */
#include "kernel.h"

struct os_error_info os_error_info;

StatusType os_check_caller(unsigned int allowed)
{
	if (os.disabled || os.suspended_all || os.suspended_os)
		return E_OS_DISABLEDINT;
	return os.where & allowed ? E_OK : E_OS_CALLEVEL;
}

void os_call_hook(void (*hook)(void), unsigned int context)
{
	uint16_t where = os.where;

	if (!hook)
		return;
	os.where = context;
	hook();
	os.where = where;
}

void os_report(enum os_service service, StatusType error, uint64_t p0, uint64_t p1, uint64_t p2)
{
	uint16_t where = os.where;

	if (!os_hooks.error || where == OS_IN_ERROR)
		return;
	os_error_info.service = service;
	os_error_info.parameter[0] = p0;
	os_error_info.parameter[1] = p1;
	os_error_info.parameter[2] = p2;
	os.where = OS_IN_ERROR;
	os_hooks.error(error);
	os.where = where;
}

StatusType os_fail(bool on, enum os_service service, StatusType error, uint64_t p0, uint64_t p1,
		   uint64_t p2)
{
	if (error != E_OK)
		os_report(service, error, p0, p1, p2);
	os_unlock(on);
	return error;
}

StatusType os_succeed(bool on)
{
	os_unlock(on);
	return E_OK;
}
