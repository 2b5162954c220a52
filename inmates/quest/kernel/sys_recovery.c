// SPDX-License-Identifier: GPL-2.0-only
/* System calls: programs that are components. */
#include <inmate/cpu.h>
#include "../recovery/checkpoint.h"
#include "../recovery/component.h"
#include "syscall.h"

long sys_recovery_beat(struct call *c)
{
	struct process *p = c->process;

	if (!p->component)
		return 0;
	p->beat.last = rdtsc();
	if (!p->beat.first)
		p->beat.first = p->beat.last;
	return components[p->component - 1].starts;
}

long sys_recovery_save(struct call *c)
{
	return checkpoint_save(c->process, c->arg[0], c->arg[1]);
}

long sys_recovery_resume(struct call *c)
{
	return checkpoint_resume(c->process, c->arg[0], c->arg[1]);
}
