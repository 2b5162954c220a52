// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Events: OSEK OS 2.2.3, 13.5. Only extended tasks have them (ECC1, ECC2). */
#include "kernel.h"

static StatusType task_error(TaskType task)
{
	if (task >= os_num_tasks)
		return E_OS_ID;
	if (!os_task_conf[task].extended)
		return E_OS_ACCESS;
	return os_tasks[task].state == SUSPENDED ? E_OS_STATE : E_OK;
}

StatusType os_set_event(TaskType id, EventMaskType mask)
{
	struct os_task *task = &os_tasks[id];

	os_trace(OS_TRACE_SET, id, mask);
	if (task->state == SUSPENDED)
		return OS_EXTENDED ? E_OS_STATE : E_OK;
	task->set |= mask;
	if (task->set & task->awaited) {
		os_trace(OS_TRACE_READY, id, 0);
		task->awaited = 0;
		task->state = READY;
		os_ready_put(id, os_task_conf[id].level);
	}
	return E_OK;
}

StatusType SetEvent(TaskType task, EventMaskType mask)
{
	StatusType error = os_enter(OS_TASK_ISR2);

	if (OS_EXTENDED && error == E_OK)
		error = task_error(task);
	if (error == E_OK) {
		os_set_event(task, mask);
		os_preempt_in_task();
	}
	return os_leave(OSServiceId_SetEvent, error, task, mask, 0);
}

/* The begin of a service that an extended task calls for its own events. */
static StatusType enter_extended(void)
{
	StatusType error = os_enter(OS_IN_TASK);

	if (OS_EXTENDED && error == E_OK && !os_conf_of(os.running)->extended)
		error = E_OS_ACCESS;
	return error;
}

StatusType ClearEvent(EventMaskType mask)
{
	StatusType error = enter_extended();

	if (error == E_OK) {
		os_trace(OS_TRACE_CLEAR, os_task_id(os.running), mask);
		os.running->set &= ~mask;
	}
	return os_leave(OSServiceId_ClearEvent, error, mask, 0, 0);
}

StatusType GetEvent(TaskType task, EventMaskRefType event)
{
	StatusType error = os_enter_reader(OS_READERS);

	if (OS_EXTENDED && error == E_OK)
		error = task_error(task);
	if (OS_EXTENDED && error == E_OK && !event)
		error = E_OS_PARAM_POINTER;
	if (error == E_OK)
		*event = os_tasks[task].set;
	return os_leave_reader(OSServiceId_GetEvent, error, task, (uintptr_t)event);
}

static void wait_for(EventMaskType mask)
{
	struct os_task *task;

	if (os.running->set & mask)
		return;
	task = os_put_aside();
	os_trace(OS_TRACE_WAIT, os_task_id(task), mask);
	task->state = WAITING;
	task->awaited = mask;
	task->level = 0;
	task->held = 0;
	os_switch(&task->sp);
}

StatusType WaitEvent(EventMaskType mask)
{
	StatusType error = enter_extended();

	if (OS_EXTENDED && error == E_OK && os.now.held)
		error = E_OS_RESOURCE;
	if (error == E_OK)
		wait_for(mask);
	return os_leave(OSServiceId_WaitEvent, error, mask, 0, 0);
}
