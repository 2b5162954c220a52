// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Task management: OSEK OS 2.2.3, 13.2. */
#include "kernel.h"

StatusType ActivateTask(TaskType task)
{
	StatusType error = os_enter(OS_TASK_ISR2);

	if (error == E_OK)
		error = OS_EXTENDED && task >= os_num_tasks ? E_OS_ID : os_activate(task);
	if (error == E_OK)
		os_preempt_in_task();
	return os_leave(OSServiceId_ActivateTask, error, task, 0, 0);
}

/* The begin of a service that the running task may call only without resources. */
static StatusType enter_free(void)
{
	StatusType error = os_enter(OS_IN_TASK);

	if (OS_EXTENDED && error == E_OK && os.now.held)
		error = E_OS_RESOURCE;
	return error;
}

StatusType TerminateTask(void)
{
	StatusType error = enter_free();

	if (error == E_OK) {
		os_end_running();
		os_leave_ended();
	}
	return os_leave(OSServiceId_TerminateTask, error, 0, 0, 0);
}

StatusType ChainTask(TaskType task)
{
	StatusType error = enter_free();

	if (OS_EXTENDED && error == E_OK && task >= os_num_tasks)
		error = E_OS_ID;
	if (error == E_OK && os.running != &os_tasks[task] &&
	    os_tasks[task].activations >= os_task_conf[task].activations)
		error = E_OS_LIMIT;
	if (error == E_OK) {
		os_end_running();
		os_activate(task);
		os_leave_ended();
	}
	return os_leave(OSServiceId_ChainTask, error, task, 0, 0);
}

/* Releases the internal resource, and the CPU to a more urgent task. */
StatusType Schedule(void)
{
	StatusType error = enter_free();

	if (error == E_OK && !os.now.held) {
		const struct os_task_conf *conf = os_conf_of(os.running);

		os.now.level = conf->level;
		os_preempt();
		os.now.level = conf->run_level;
	}
	return os_leave(OSServiceId_Schedule, error, 0, 0, 0);
}

StatusType GetTaskID(TaskRefType task)
{
	StatusType error = os_enter_reader(OS_READERS);

	if (OS_EXTENDED && error == E_OK && !task)
		error = E_OS_PARAM_POINTER;
	if (error == E_OK)
		*task = os.running ? os_task_id(os.running) : INVALID_TASK;
	return os_leave_reader(OSServiceId_GetTaskID, error, (uintptr_t)task, 0);
}

StatusType GetTaskState(TaskType task, TaskStateRefType state)
{
	StatusType error = os_enter_reader(OS_READERS);

	if (OS_EXTENDED && error == E_OK && task >= os_num_tasks)
		error = E_OS_ID;
	if (OS_EXTENDED && error == E_OK && !state)
		error = E_OS_PARAM_POINTER;
	if (error == E_OK)
		*state = os_tasks[task].state;
	return os_leave_reader(OSServiceId_GetTaskState, error, task, (uintptr_t)state);
}
