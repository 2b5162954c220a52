// SPDX-License-Identifier: GPL-2.0-only
/* System calls: programs that are components. */
#include <inmate/cpu.h>
#include "../recovery/checkpoint.h"
#include "../recovery/component.h"
#include "../recovery/takeover.h"
#include "../user/include/quest/types.h"
#include "syscall.h"

/* A program that another cell has taken over ends, before it can do more. */
static bool is_over(struct process *p)
{
	if (!p->component || !takeover_is_over((unsigned int)p->component - 1))
		return false;
	process_end(p, SIGKILL);
	return true;
}

static void beat(struct process *p)
{
	p->beat.last = rdtsc();
	if (!p->beat.first)
		p->beat.first = p->beat.last;
}

long sys_recovery_beat(struct call *c)
{
	struct process *p = c->process;

	if (!p->component)
		return 0;
	if (is_over(p))
		return -EINTR;
	beat(p);
	return components[p->component - 1].starts;
}

long sys_recovery_save(struct call *c)
{
	long error = checkpoint_save(c->process, c->arg[0], c->arg[1]);

	return is_over(c->process) ? -EINTR : error;
}

long sys_recovery_vote(struct call *c)
{
	beat(c->process);
	return checkpoint_vote(c->process, c->arg[0], c->arg[1], c->arg[2]);
}

long sys_recovery_resume(struct call *c)
{
	return checkpoint_resume(c->process, c->arg[0], c->arg[1]);
}
