// SPDX-License-Identifier: GPL-2.0-only
#include "../../user/include/quest/errors.h"
#include "../../user/include/quest/types.h"
#include "../program.h"
#include "process.h"
#include "threads.h"
#include "userthread.h"

_Static_assert(QUEST_STACKS == USER_STACKS && QUEST_STACK_BYTES == STACK_BYTES &&
	       QUEST_THREADS == STACKS_MAX,
	       "what programs know of their stacks");

static int free_slot(const struct process *p)
{
	int i;

	for (i = 0; i < STACKS_MAX; i++)
		if (p->threads[i].state == SLOT_FREE)
			return i;
	return -1;
}

int process_add_thread(uint64_t rip, uint64_t arg0, uint64_t arg1)
{
	struct process *p = process_current();
	int slot = free_slot(p);
	uint64_t top = space_stack_top(slot < 0 ? 0 : (unsigned int)slot);
	struct trap_frame frame;
	struct thread *t;
	int error;

	if (slot < 0)
		return -EAGAIN;
	if (!space_translate(&p->space, rip, SPACE_EXECUTE))
		return -EFAULT;
	p->threads[slot] = (struct process_thread){ .state = SLOT_RUNS };
	p->num_threads++;
	/* the stack is aligned as after a CALL instruction */
	program_start_frame(&frame, rip, top - 8);
	frame.rdi = arg0;
	frame.rsi = arg1;
	error = space_map(&p->space, top - STACK_BYTES, top, USER_DATA) ? 0 : -ENOMEM;
	if (!error) {
		error = userthread_create(&t, p, (unsigned int)slot, &frame,
					  SHELL_THREADS);
		if (!error)
			return slot;
		space_unmap(&p->space, top - STACK_BYTES, top);
	}
	p->threads[slot].state = SLOT_FREE;
	p->num_threads--;
	/* wake threads that already wait to join it, since it never started */
	wake_all(&p->changed);
	return error;
}

int process_join(unsigned int n, uint64_t *result)
{
	struct process *p = process_current();
	struct process_thread *slot = n < STACKS_MAX ? &p->threads[n] : NULL;

	if (!slot || slot->state == SLOT_FREE || slot->joining || slot->detached)
		return -ESRCH;
	if (n == thread_current()->slot)
		return -EDEADLK;
	slot->joining = true;
	while (slot->state != SLOT_ENDED) {
		if (process_interrupted(p)) {
			slot->joining = false;
			return (int)process_interrupted(p);
		}
		wait_on(&p->changed);
		if (slot->state == SLOT_FREE)
			return -ESRCH;
	}
	*result = slot->result;
	*slot = (struct process_thread){ .state = SLOT_FREE };
	return 0;
}

int process_detach(unsigned int n)
{
	struct process *p = process_current();
	struct process_thread *slot = n < STACKS_MAX ? &p->threads[n] : NULL;

	if (!slot || slot->state == SLOT_FREE || slot->joining || slot->detached)
		return -ESRCH;
	if (slot->state == SLOT_ENDED)
		slot->state = SLOT_FREE;
	slot->detached = slot->state == SLOT_RUNS;
	return 0;
}
