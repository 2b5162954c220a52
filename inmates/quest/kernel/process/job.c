// SPDX-License-Identifier: GPL-2.0-only
#include "job.h"
#include "process.h"

bool process_end_job(int job, int status)
{
	struct process *p;
	bool some = false;
	int i;

	for (i = 0; i < PROCESS_MAX; i++) {
		p = process_at(i);
		if (!p || p->job != job)
			continue;
		/* a process that is starting ends before its first instruction */
		process_end(p, status);
		some = true;
	}
	return some;
}

bool process_gets_keys(const struct process *p)
{
	const struct process *q;
	int i;

	for (i = 0; i < PROCESS_MAX; i++) {
		q = process_at(i);
		if (q && q->state == PROCESS_LIVE && q->job == p->job && q->parent == KERNEL_PID &&
		    !q->background)
			return true;
	}
	return false;
}
