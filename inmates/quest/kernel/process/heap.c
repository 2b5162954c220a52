// SPDX-License-Identifier: GPL-2.0-only
#include "heap.h"
#include "process.h"

bool process_take_heap(struct process *p)
{
	while (p->heap_taken && !process_interrupted(p))
		wait_on(&p->changed);
	/*
	 * a fork() of an ending process fails here, so that process_end() of a job misses no new
	 * process
	 */
	if (process_interrupted(p))
		return false;
	p->heap_taken = true;
	return true;
}

void process_give_heap(struct process *p)
{
	p->heap_taken = false;
	wake_all(&p->changed);
}
