// SPDX-License-Identifier: GPL-2.0-only
#include "../dispatch.h"
#include "../threadslot.h"
#include "park.h"

static struct wait_queue movers;	/* threads that wait in move_detach() */

void park_wake_movers(void)
{
	wake_all(&movers);
}

bool park_wait(uint64_t until)
{
	return wait_on_until(&movers, until);
}

_Noreturn void park_thread(struct trap_frame *frame)
{
	struct thread *t = thread_current();
	struct process *p = t->process;
	struct thread_image *i = &p->image->threads[p->image->num_threads++];

	i->frame = *frame;
	i->restart = t->restart;
	i->slot = t->slot;
	i->vcpu = t->own_vcpu;
	user_fpu_copy(&i->fpu, t);
	p->used += dispatch_used(t);
	p->image->promised++;
	threadslot_promise();
	t->process = NULL;
	user_leave_space();
	park_wake_movers();
	thread_exit();
}
