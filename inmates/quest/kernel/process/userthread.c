// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include "../../arch/user.h"
#include "../../mm/kstack.h"
#include "../dispatch.h"
#include "exit.h"
#include "process.h"
#include "userthread.h"

static void begin(void *frame)
{
	irq_disable();
	process_leave(frame);
	user_enter(frame);
}

/*
 * From its top down, the kernel stack holds the FPU state, the frame of ring 3, and the kernel's
 * context.
 */
int userthread_prepare(struct thread **made, const struct process *p, unsigned int slot,
		       const struct trap_frame *frame, unsigned int kept)
{
	struct trap_frame *first;
	struct thread *t;
	int error = thread_new(&t, p->name, p->vcpu, kept);

	if (error)
		return error;
	*made = t;
	sched_entity_init(&t->sched);
	t->state = THREAD_NEW;
	t->slot = slot;
	t->kernel_top = t->stack + KSTACK_BYTES - sizeof(struct fpu_state);
	t->fpu = (struct fpu_state *)t->kernel_top;
	user_fpu_init(t->fpu);
	first = (struct trap_frame *)t->kernel_top - 1;
	*first = *frame;
	thread_prepare(t, (uint64_t)first, begin, first);
	return 0;
}

void userthread_start(struct thread *t, struct process *p, int vcpu)
{
	t->process = p;
	dispatch_admit(t, vcpu);
}

int userthread_create(struct thread **made, struct process *p, unsigned int slot,
		      const struct trap_frame *frame, unsigned int kept)
{
	int error = userthread_prepare(made, p, slot, frame, kept);

	if (!error)
		userthread_start(*made, p, p->vcpu);
	return error;
}
