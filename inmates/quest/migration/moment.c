// SPDX-License-Identifier: GPL-2.0-only
#include "../kernel/dispatch.h"
#include "../kernel/process/process.h"
#include "../kernel/threadslot.h"
#include "moment.h"

/* Returns whether another thread of the program wakes `t`. */
static bool waits_inside(const struct process *p, const struct thread *t)
{
	return t->waiting_on == &p->changed || t->waiting_on == &p->words ||
	       t->waiting_on == &p->locks;
}

static uint64_t until(uint64_t at, uint64_t now)
{
	return at > now ? at - now : 0;
}

static uint64_t slack_of(const struct process *p, const struct thread *t, uint64_t now)
{
	if (t->state == THREAD_READY)
		return until(vcpu_eligible(sched_vcpu(dispatch_sched(), t->sched.vcpu)), now);
	if (t->state == THREAD_WAITING && !waits_inside(p, t))
		return 0;
	return t->timer.queued ? until(t->timer.at, now) : SCHED_NEVER;
}

uint64_t mig_slack(const struct process *p, uint64_t now)
{
	struct thread *by_slot[STACKS_MAX];
	uint64_t slack = SCHED_NEVER, one;
	unsigned int i;

	threadslots_collect(p, by_slot);
	for (i = 0; i < STACKS_MAX; i++) {
		one = by_slot[i] ? slack_of(p, by_slot[i], now) : SCHED_NEVER;
		slack = one < slack ? one : slack;
	}
	return slack;
}
