// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Which task runs: levels, preemption, the switch. All in constant time. */
#include "kernel.h"

uint64_t os_dead_sp;

StatusType os_activate(TaskType id)
{
	struct os_task *task = &os_tasks[id];
	const struct os_task_conf *conf = &os_task_conf[id];

	__asm__("" : "+r"(task), "+r"(conf));	/* addresses in registers make the code smaller */
	if (task->activations >= conf->activations)
		return E_OS_LIMIT;
	os_trace(OS_TRACE_ACTIVATE, id, 0);
	if (!task->activations++)
		task->state = READY;
	os_ready_put(id, conf->level);
	return E_OK;
}

struct os_task *os_put_aside(void)
{
	struct os_task *task = os.running;

	os_call_hook(os_hooks.post_task, OS_IN_POST);
	return task;
}

void os_end_running(void)
{
	struct os_task *task = os_put_aside();

	os_trace(OS_TRACE_END, os_task_id(task), 0);
	task->sp = 0;
	task->set = 0;
	task->level = 0;
	task->held = 0;
	task->state = --task->activations ? READY : SUSPENDED;
}

/* The most urgent task. A preempted task is older than a ready one of the same level. */
static struct os_task *take_next(void)
{
	struct os_task *next = os.preempted;

	if (next && os_ready_top() <= next->level) {
		os.preempted = next->below;
		return next;
	}
	return os_ready_levels ? &os_tasks[os_ready_take()] : NULL;
}

/*
 * The first code of each activation. A task that ends without TerminateTask() is terminated, and
 * the error is reported. In extended status its resources and interrupts are released: AUTOSAR OS,
 * SWS_Os_00052, 00069, 00070, 00239.
 */
static void begin(void)
{
	os_port_on();
	os_conf_of(os.running)->entry();
	os_port_off();
	if (OS_EXTENDED) {
		os_release_interrupts();
		os_release_resources();
	}
	os_report(OSServiceId_TaskEnd, E_OS_MISSINGEND, 0, 0, 0);
	os_end_running();
	os_leave_ended();
}

static void run(struct os_task *next, uint64_t *save)
{
	const struct os_task_conf *conf = os_conf_of(next);

	os_trace(OS_TRACE_RUN, os_task_id(next), 0);
	next->state = RUNNING;
	os_call_hook(os_hooks.pre_task, OS_IN_PRE);
	os.now.held = next->held;
	os.now.where = OS_IN_TASK;
	os.now.lock_was_on = true;	/* a task may neither wait nor be preempted without */
	os_set_level(next->level > conf->run_level ? next->level : conf->run_level);
	if (next->sp)
		os_port_switch(save, next->sp);
	else
		os_port_begin(save, conf->stack.base + conf->stack.size, begin);
}

void os_switch(uint64_t *save)
{
	struct os_task *next = take_next();

	os.running = next;
	if (next) {
		run(next, save);
	} else {
		os_trace(OS_TRACE_IDLE, 0, 0);
		os.now.where = OS_IN_IDLE;
		os_set_level(0);
		os_port_switch(save, os.idle_sp);
	}
}

void os_leave_ended(void)
{
	os_switch(&os_dead_sp);
	__builtin_unreachable();
}

void os_preempt(void)
{
	struct os_task *task;

	if (os_ready_top() <= os.now.level)
		return;
	if (!os.running) {
		os_switch(&os.idle_sp);
		return;
	}
	task = os_put_aside();
	os_trace(OS_TRACE_PREEMPT, os_task_id(task), 0);
	task->state = READY;
	task->level = os.now.level;
	task->held = os.now.held;
	task->below = os.preempted;
	os.preempted = task;
	os_switch(&task->sp);
}

void os_preempt_in_task(void)
{
	if (os.now.where == OS_IN_TASK)
		os_preempt();
}
