// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/string.h>
#include "../../user/include/quest/errors.h"
#include "../machine.h"
#include "../vcpu/vcpu.h"
#include "process.h"

static struct process processes[PROCESS_MAX];
/* the queue on which the shell waits for a program that it started */
static struct wait_queue kernel_children;
static void (*background_ended)(void);
static int last_pid = KERNEL_PID;

struct process *process_current(void)
{
	return thread_current()->process;
}

struct process *process_at(int i)
{
	return i >= 0 && i < PROCESS_MAX && processes[i].state != PROCESS_FREE ?
	       &processes[i] : NULL;
}

struct process *process_find(int pid)
{
	int i;

	for (i = 0; i < PROCESS_MAX; i++)
		if (processes[i].state != PROCESS_FREE && processes[i].pid == pid)
			return &processes[i];
	return NULL;
}

/*
 * The id of a job is the pid of its first program. That pid stays taken while a process of the job
 * exists.
 */
static bool pid_taken(int pid)
{
	int i;

	for (i = 0; i < PROCESS_MAX; i++)
		if (processes[i].state != PROCESS_FREE &&
		    (processes[i].pid == pid || processes[i].job == pid))
			return true;
	return false;
}

static int new_pid(void)
{
	do
		last_pid = last_pid == INT32_MAX ? KERNEL_PID + 1 : last_pid + 1;
	while (pid_taken(last_pid));
	return last_pid;
}

struct process *process_new(const struct process *parent, int vcpu, const char *name)
{
	struct process *p;
	int pid;

	for (p = processes; p < processes + PROCESS_MAX - (parent ? SHELL_PROCESSES : 0); p++) {
		if (p->state != PROCESS_FREE)
			continue;
		/*
		 * take a pid only if a slot is free, so that a failing call does not use up a pid
		 */
		pid = new_pid();
		*p = (struct process){ .state = PROCESS_STARTING, .pid = pid, .vcpu = vcpu,
				       .epoch = parent ? parent->epoch : machine.boot_tsc,
				       .parent = parent ? parent->pid : KERNEL_PID,
				       .job = parent ? parent->job : pid };
		copy_string(p->name, name, sizeof(p->name));
		return p;
	}
	return NULL;
}

struct wait_queue *process_kernel_children(void)
{
	return &kernel_children;
}

void process_on_background_end(void (*ended)(void))
{
	background_ended = ended;
}

void process_wake_parent(const struct process *p)
{
	struct process *parent = process_find(p->parent);

	wake_all(parent ? &parent->changed : &kernel_children);
	if (p->parent == KERNEL_PID && p->background && !p->component && background_ended)
		background_ended();
}

void process_end(struct process *p, int status)
{
	if (p->ending || p->state == PROCESS_ZOMBIE)
		return;
	p->ending = true;
	p->status = status;
	if (!p->ended)
		p->ended = rdtsc();
	if (p->component)		/* recovery/ need not wait until all is freed */
		wake_all(&kernel_children);
	wake_threads_of(p);
}

long process_interrupted(const struct process *p)
{
	return p->ending ? -EINTR : p->leaving ? -ERESTART : 0;
}

void process_leave_vcpu(int vcpu)
{
	struct process *p;

	for (p = processes; p < processes + PROCESS_MAX; p++)
		if (p->vcpu == vcpu)
			p->vcpu = BEST_EFFORT_VCPU;
}

uint64_t process_used(const struct process *p)
{
	return p->used + thread_used_by(p);
}
