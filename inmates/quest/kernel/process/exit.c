// SPDX-License-Identifier: GPL-2.0-only
#include "../../arch/user.h"
#include "../dispatch.h"
#include "../userchannel.h"
#include "../userdriver.h"
#include "../vcpu/uservcpu.h"
#include "children.h"
#include "exit.h"
#include "park.h"
#include "process.h"

void process_release(struct process *p)
{
	files_close_all(p);
	shared_process_ends(p);
	userchannel_leave(p);
	userdriver_leave(p);
	space_destroy(&p->space);
	let_interrupts_in();
	/* first: children may use the VCPUs of their parent, which end with it */
	process_leave_children(p->pid);
	let_interrupts_in();
	uservcpu_process_ends(p->pid);
	/* Others have run, so the parent may have ended meanwhile. */
	p->state = p->parent == ORPHAN ? PROCESS_FREE : PROCESS_ZOMBIE;
	process_wake_parent(p);
}

/* The last thread of `p` becomes a thread of the kernel, and `p` ends. */
static void finish(struct process *p)
{
	p->ending = true;		/* from now on it can neither move nor be killed */
	thread_current()->process = NULL;
	user_leave_space();
	process_release(p);
}

_Noreturn void process_end_thread(uint64_t result)
{
	struct thread *t = thread_current();
	struct process *p = t->process;
	struct process_thread *slot = &p->threads[t->slot];
	uint64_t top = space_stack_top(t->slot);

	/*
	 * check before the thread is uncounted; the last thread's stack is freed with the address
	 * space
	 */
	if (p->num_threads > 1)
		space_unmap(&p->space, top - STACK_BYTES, top);
	slot->state = SLOT_ENDED;
	slot->result = result;
	park_wake_movers();
	p->used += dispatch_used(t);
	if (--p->num_threads) {
		if (slot->detached)
			slot->state = SLOT_FREE;
		wake_all(&p->changed);
		t->process = NULL;
		user_leave_space();
	} else {
		finish(p);
	}
	thread_exit();
}

void process_leave(struct trap_frame *frame)
{
	struct process *p = process_current();

	if (p->ending)
		process_end_thread(0);
	if (p->leaving)
		park_thread(frame);
}
