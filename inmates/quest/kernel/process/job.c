// SPDX-License-Identifier: GPL-2.0-only
#include "../dispatch.h"
#include "job.h"
#include "process.h"

/*
 * Others run while the threads of each process wake. So all processes are marked before that: none
 * of them can have another child. A process that is starting ends before its first instruction.
 */
bool process_end_job(int job, int status)
{
	struct process *p;
	bool some = false;
	int i;

	for (i = 0; i < PROCESS_MAX; i++) {
		p = process_at(i);
		if (!p || p->job != job)
			continue;
		some = true;
		if (p->ending || p->state == PROCESS_ZOMBIE)
			continue;
		p->ending = true;
		p->status = status;
	}
	for (i = 0; i < PROCESS_MAX; i++) {
		p = process_at(i);
		if (!p || p->job != job || !p->ending)
			continue;
		wake_threads_of(p);
		let_interrupts_in();
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
