// SPDX-License-Identifier: GPL-2.0-only
#include "../../user/include/quest/errors.h"
#include "children.h"
#include "process.h"

int process_wait(int parent, int pid, bool nowait, int *status)
{
	struct process *me = process_find(parent), *p;
	bool some;
	int i;

	for (;;) {
		some = false;
		for (i = 0; i < PROCESS_MAX; i++) {
			p = process_at(i);
			if (!p || p->parent != parent || (pid != -1 && p->pid != pid))
				continue;
			some = true;
			if (p->state != PROCESS_ZOMBIE)
				continue;
			*status = p->status;
			if (me)
				me->children_used += p->used + p->children_used;
			p->state = PROCESS_FREE;
			return p->pid;
		}
		if (!some)
			return -ECHILD;
		if (nowait)
			return 0;
		if (me && process_interrupted(me))
			return (int)process_interrupted(me);
		wait_on(me ? &me->changed : process_kernel_children());
	}
}

bool process_reap_background(struct process *copy)
{
	struct process *p;
	int i;

	for (i = 0; i < PROCESS_MAX; i++) {
		p = process_at(i);
		if (!p || p->state != PROCESS_ZOMBIE || p->parent != KERNEL_PID ||
		    !p->background || p->component)
			continue;
		*copy = *p;
		p->state = PROCESS_FREE;
		return true;
	}
	return false;
}

void process_leave_children(int pid)
{
	struct process *p;
	int i;

	for (i = 0; i < PROCESS_MAX; i++) {
		p = process_at(i);
		if (!p || p->parent != pid)
			continue;
		if (p->state == PROCESS_ZOMBIE)
			p->state = PROCESS_FREE;
		p->parent = ORPHAN;
	}
}
