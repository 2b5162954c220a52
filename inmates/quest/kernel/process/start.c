// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/string.h>
#include "../../arch/user.h"
#include "../../user/include/quest/errors.h"
#include "../../user/include/quest/types.h"
#include "../dispatch.h"
#include "../userchannel.h"
#include "../userdriver.h"
#include "../vcpu/uservcpu.h"
#include "heap.h"
#include "process.h"
#include "start.h"
#include "userthread.h"

/* Frees the slot, and wakes the parent so that it checks again for children. Returns `error`. */
static int abandon(struct process *p, int error)
{
	files_close_all(p);
	p->state = PROCESS_FREE;
	process_wake_parent(p);
	return error;
}

/*
 * Starts the first thread of a process whose address space is ready, with the FPU state of `like`
 * (NULL: that of a program's start). A program of the shell may have the slots that are kept for
 * it. On error frees everything.
 */
static int start(struct process *p, const struct trap_frame *frame, unsigned int slot,
		 const struct thread *like)
{
	struct thread *t;
	int error = userthread_create(&t, p, slot, frame,
				      p->parent == KERNEL_PID ? 0 : SHELL_THREADS);

	if (error) {
		space_destroy(&p->space);
		return abandon(p, error);
	}
	if (like)
		user_fpu_copy(t->fpu, like);
	p->threads[slot] = (struct process_thread){ .state = SLOT_RUNS };
	p->num_threads = 1;
	p->state = PROCESS_LIVE;
	return p->pid;
}

int process_run(const struct program_args *args, int vcpu, bool background, int job,
		const char **why)
{
	struct process *p = process_new(NULL, vcpu, args->file);
	struct trap_frame frame;
	int error;

	*why = "too many programs are running";
	if (!p)
		return -EAGAIN;
	p->background = background;
	p->job = job ? job : p->pid;
	files_init(p);
	error = program_load(&p->space, args, &frame, why);
	if (error)
		return abandon(p, error);
	*why = "too many threads are running, or there is not enough memory";
	return start(p, &frame, 0, NULL);
}

/* The child has only the thread that forked. */
static void drop_other_stacks(struct space *s, unsigned int slot)
{
	unsigned int n;

	for (n = 0; n < STACKS_MAX; n++) {
		if (n == slot)
			continue;
		space_unmap(s, space_stack_top(n) - STACK_BYTES, space_stack_top(n));
		let_interrupts_in();
	}
}

int process_fork(const struct trap_frame *frame, int vcpu)
{
	struct process *parent = process_current(), *p;
	struct trap_frame child = *frame;
	bool copied;
	int pid;

	if (!process_take_heap(parent))
		return (int)process_interrupted(parent);
	/*
	 * Check only after the wait. From process_new() on, process_leave_vcpu() finds the child.
	 */
	if (!uservcpu_usable(vcpu, parent->pid)) {
		process_give_heap(parent);
		return -ENOVCPU;
	}
	p = process_new(parent, vcpu, parent->name);
	copied = p && space_copy(&p->space, &parent->space);
	process_give_heap(parent);
	if (!p)
		return -EAGAIN;
	if (!copied)
		return abandon(p, -ENOMEM);
	drop_other_stacks(&p->space, thread_current()->slot);
	files_copy(p, parent);
	memcpy(p->vcpu_names, parent->vcpu_names, sizeof(p->vcpu_names));
	child.rax = 0;
	pid = start(p, &child, thread_current()->slot, thread_current());
	/* process_end() of the parent's job was called before the child existed */
	if (pid > 0 && parent->ending)
		process_end(p, SIGKILL);
	return pid;
}

int process_exec(const struct program_args *args, struct trap_frame *frame)
{
	struct process *p = process_current();
	struct space fresh, old;
	struct trap_frame begin;
	const char *why;
	int error;

	if (p->num_threads > 1)
		return -EBUSY;
	error = program_load(&fresh, args, &begin, &why);
	if (error)
		return error;
	old = p->space;
	p->space = fresh;
	space_activate(&p->space);
	shared_leave(p);
	userchannel_leave(p);
	userdriver_leave(p);
	space_destroy(&old);
	memset(p->threads, 0, sizeof(p->threads));
	p->threads[0].state = SLOT_RUNS;
	thread_current()->slot = 0;
	user_fpu_reset(thread_current());
	thread_rename(args->file);
	copy_string(p->name, args->file, sizeof(p->name));
	*frame = begin;
	return 0;
}
