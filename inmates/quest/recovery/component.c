// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../drivers/channel.h"
#include "../kernel/dispatch.h"
#include "../kernel/lateness.h"
#include "../kernel/process/children.h"
#include "../kernel/process/job.h"
#include "../kernel/process/process.h"
#include "../kernel/process/start.h"
#include "../kernel/threadslot.h"
#include "../kernel/vcpu/bind.h"
#include "../kernel/vcpu/vcpu.h"
#include "../user/include/quest/errors.h"
#include "../user/include/quest/types.h"
#include "checkpoint.h"
#include "component.h"
#include "recovery.h"
#include "replica.h"
#include "takeover.h"

#define LOOK_US		1000		/* between two looks at a program that ends */

struct component components[COMPONENTS_MAX];
struct component_rule rules[COMPONENTS_MAX];
unsigned int num_components;

const char *component_why(const struct component *c)
{
#define WHY(name, number, sentence, remedy) case (number): return " (" sentence ")";
	switch (-c->start_error) {
	QUEST_ERRORS(WHY)
	default:
		return "";
	}
#undef WHY
}

const char *component_init(unsigned int n, uint64_t period)
{
	const struct component_rule *r = &rules[n];
	struct component *c = &components[n];
	const char *wrong;

	*c = (struct component){ .rule = r, .channel = -1, .outage = -1, .state = COMPONENT_LOST };
	(void)copy_string(c->program, r->args.file, sizeof(c->program));
	if (r->channel[0]) {
		c->channel = channel_find(r->channel);
		if (c->channel < 0)
			return "the cell has no channel of that name";
	}
	if (r->checkpoint_bytes &&
	    !checkpoint_init(n, r->checkpoint_bytes, timer_from_us(r->checkpoint_us)))
		return "there is no memory for its checkpoint";
	c->vcpu = r->vcpu ? r->vcpu - 1 :
		  vcpu_create(r->name, MAIN_VCPU, r->budget_us, r->period_us, KERNEL_PID);
	if (c->vcpu < 0)
		return sched_error_text(c->vcpu);
	wrong = r->send[0] ? takeover_init(n, r, period) :
		r->replica[0][0] ? replica_init(n, r, period) : NULL;
	if (wrong)
		return wrong;
	c->state = r->send[0] ? COMPONENT_STANDBY : COMPONENT_DOWN;
	return NULL;
}

bool component_is_ready(unsigned int n)
{
	return components[n].vcpu >= 0 && (!rules[n].send[0] || takeover_used(n)) &&
	       (!rules[n].replica[0][0] || replica_used(n));
}

/* The arguments of the declared program, for the implementation that runs. */
static void take_args(const struct component *c, struct program_args *args)
{
	const struct program_args *from = &c->rule->args;
	size_t at = strlen(from->text) + 1;
	unsigned int i;

	*args = (struct program_args){ .count = 0 };
	(void)copy_string(args->file, c->program, sizeof(args->file));
	(void)program_add_arg(args, c->program);
	for (i = 1; i < from->count; i++, at += strlen(from->text + at) + 1)
		(void)program_add_arg(args, from->text + at);
}

/*
 * A replica begins at the newest state on which two cells agree, or if none can be copied, at the
 * last one of this cell on which another one agreed.
 */
static void begin_replica(unsigned int n)
{
	bool resumes;

	checkpoint_fetch(n);
	resumes = checkpoint_usable(n, rdtsc());
	checkpoint_arm(n, resumes);
	replica_begin(n, resumes);
}

void component_start(struct component *c)
{
	struct program_args args;
	const char *why;
	int pid;

	if (replica_used((unsigned int)(c - components)))
		begin_replica((unsigned int)(c - components));
	take_args(c, &args);
	(void)lateness_take(c->vcpu);
	c->peer_gone = 0;
	pid = process_run(&args, c->vcpu, true, 0, &why);
	/* it has not run yet, since interrupts are off */
	if (pid > 0)
		process_find(pid)->component = (int)(c - components) + 1;
	c->pid = pid > 0 ? pid : 0;
	c->start_error = pid > 0 ? 0 : pid;
	c->started = c->used_since = rdtsc();
	c->starts++;
	c->state = COMPONENT_RUNS;
}

/*
 * The threads of job `job` end on the caller's VCPU, so that they need not wait for budgets of
 * their own. Returns whether a process of the job has not ended.
 */
static bool hurry(int job)
{
	struct thread *by_slot[STACKS_MAX];
	const struct process *p;
	bool some = false;
	int i, slot;

	for (i = 0; i < PROCESS_MAX; i++) {
		p = process_at(i);
		if (!p || p->job != job || p->state == PROCESS_ZOMBIE)
			continue;
		some = true;
		threadslots_collect(p, by_slot);
		for (slot = 0; slot < STACKS_MAX; slot++)
			if (by_slot[slot])
				(void)vcpu_bind(by_slot[slot], thread_current()->own_vcpu);
		let_interrupts_in();
	}
	return some;
}

bool component_reap(struct component *c)
{
	const struct process *p = c->pid ? process_find(c->pid) : NULL;
	int status;

	if (p && p->state != PROCESS_ZOMBIE)
		return false;
	if (p)
		(void)process_wait(KERNEL_PID, c->pid, true, &status);
	c->pid = 0;
	return true;
}

/* While recovery waits for `c`: it looks at no other cell, but none takes a component from it. */
static void keep_pairs(const struct component *c)
{
	unsigned int n;

	for (n = 0; n < num_components; n++) {
		if (!takeover_used(n))
			continue;
		takeover_beat(n);
		/* it was taken before, and its next look ends the rest */
		if (&components[n] != c && components[n].pid && takeover_is_over(n))
			(void)process_end_job(components[n].pid, SIGKILL);
	}
}

bool component_stop(struct component *c, uint64_t until)
{
	uint64_t now;

	if (!c->pid)
		return true;
	(void)process_end_job(c->pid, SIGKILL);
	while (hurry(c->pid)) {
		keep_pairs(c);
		now = rdtsc();
		if (now >= until)
			return false;
		now += timer_from_us(LOOK_US);
		(void)wait_on_until(process_kernel_children(), now < until ? now : until);
	}
	return component_reap(c);
}

bool recovery_ask(const char *name)
{
	unsigned int n;

	for (n = 0; n < num_components; n++) {
		if (strcmp(rules[n].name, name))
			continue;
		components[n].asked = true;
		wake_all(process_kernel_children());
		return true;
	}
	return false;
}
