// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Hooks and errors: OSEK OS 2.2.3 chapter 11. */
#include "kernel.h"

struct os_error_info os_error_info;

StatusType os_enter_checked(unsigned int allowed)
{
	os_lock();
	if (os.disabled || os.suspended_all || os.suspended_os)
		return E_OS_DISABLEDINT;
	return os.now.where & allowed ? E_OK : E_OS_CALLEVEL;
}

void os_call_hook(void (*hook)(void), enum os_context_kind kind)
{
	struct os_context context = os.now;

	if (!hook)
		return;
	os.now.where = kind;
	hook();
	os.now = context;
}

void os_report(enum os_service service, uint32_t error, uint64_t p0, uint64_t p1, uint64_t p2)
{
	struct os_error_info *info = &os_error_info;
	struct os_context context = os.now;

	os_trace(OS_TRACE_ERROR, service, error);
	__asm__("" : "+r"(info));	/* the address in a register makes the code smaller */
	info->last = error;
	if (context.where == OS_IN_ERROR || !os_hooks.error)
		return;
	info->service = service;
	info->parameter[0] = p0;
	info->parameter[1] = p1;
	info->parameter[2] = p2;
	os.now.where = OS_IN_ERROR;
	os_hooks.error(error);
	os.now = context;
}

StatusType os_fail(enum os_service service, uint32_t error, uint64_t p0, uint64_t p1,
		   uint64_t p2)
{
	if (error != E_OK)
		os_report(service, error, p0, p1, p2);
	os_unlock();
	return error;
}
