// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/string.h>
#include "../arch/user.h"
#include "../user/include/quest/errors.h"
#include "../user/include/quest/types.h"
#include "dispatch.h"
#include "move.h"
#include "process.h"
#include "uservcpu.h"

_Static_assert(QUEST_STACKS == USER_STACKS && QUEST_STACK_BYTES == STACK_BYTES && QUEST_THREADS == STACKS_MAX,
	       "what programs know of their stacks");

static struct process processes[PROCESS_MAX];
static struct wait_queue kernel_children;	/* the shell waits for one that it started */
static int last_pid = KERNEL_PID;

struct process *process_current(void)
{
	return thread_current()->process;
}

struct process *process_at(int i)
{
	return i >= 0 && i < PROCESS_MAX && processes[i].state != PROCESS_FREE ? &processes[i] : NULL;
}

struct process *process_find(int pid)
{
	int i;

	for (i = 0; i < PROCESS_MAX; i++)
		if (processes[i].state != PROCESS_FREE && processes[i].pid == pid)
			return &processes[i];
	return NULL;
}

/* A job's id is its first program's pid, and stays taken while one of the job is left. */
static bool pid_taken(int pid)
{
	int i;

	for (i = 0; i < PROCESS_MAX; i++)
		if (processes[i].state != PROCESS_FREE && (processes[i].pid == pid || processes[i].job == pid))
			return true;
	return false;
}

static int new_pid(void)
{
	do
		last_pid = last_pid == INT32_MAX ? KERNEL_PID + 1 : last_pid + 1;
	while (pid_taken(last_pid));
	return last_pid;
}

/* A slot whose state is PROCESS_STARTING, so that nobody else takes it; NULL: none is free. `parent` NULL: the kernel. */
static struct process *reserve(const struct process *parent, int vcpu, const char *name)
{
	struct process *p;
	int pid;

	for (p = processes; p < processes + PROCESS_MAX - (parent ? SHELL_PROCESSES : 0); p++) {
		if (p->state != PROCESS_FREE)
			continue;
		pid = new_pid();	/* a refusal uses none up */
		*p = (struct process){ .state = PROCESS_STARTING, .pid = pid, .vcpu = vcpu,
				       .parent = parent ? parent->pid : KERNEL_PID, .job = parent ? parent->job : pid };
		copy_string(p->name, name, sizeof(p->name));
		return p;
	}
	return NULL;
}

/* Nothing comes of it: who waits for it shall look again. */
static int abandon(struct process *p, int error)
{
	struct process *parent = process_find(p->parent);

	files_close_all(p);
	p->state = PROCESS_FREE;
	wake_all(parent ? &parent->changed : &kernel_children);
	return error;
}

/* The first thread of a process whose space is ready; without one all is given back. */
static int start(struct process *p, const struct trap_frame *frame, unsigned int slot, const struct thread *like)
{
	int error = thread_create_user(p, slot, frame, like);

	if (error) {
		space_destroy(&p->space);
		return abandon(p, error);
	}
	p->threads[slot] = (struct process_thread){ .state = SLOT_RUNS };
	p->num_threads = 1;
	p->state = PROCESS_LIVE;
	return p->pid;
}

int process_run(const struct program_args *args, int vcpu, bool background, int job, const char **why)
{
	struct process *p = reserve(NULL, vcpu, args->file);
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

bool process_take_heap(struct process *p)
{
	while (p->heap_taken && !process_interrupted(p))
		wait_on(&p->changed);
	if (process_interrupted(p))	/* no fork either: who ends a job ends all of it at once */
		return false;
	p->heap_taken = true;
	return true;
}

void process_give_heap(struct process *p)
{
	p->heap_taken = false;
	wake_all(&p->changed);
}

/* The child has the one thread that forked. */
static void drop_other_stacks(struct space *s, unsigned int slot)
{
	unsigned int n;

	for (n = 0; n < STACKS_MAX; n++)
		if (n != slot)
			space_unmap(s, space_stack_top(n) - STACK_BYTES, space_stack_top(n));
}

int process_fork(const struct trap_frame *frame, int vcpu)
{
	struct process *parent = process_current(), *p;
	struct trap_frame child = *frame;
	bool copied;
	int pid;

	if (!process_take_heap(parent))
		return (int)process_interrupted(parent);
	if (!uservcpu_usable(vcpu, parent->pid)) {	/* after the wait; from reserve() on process_leave_vcpu() knows of it */
		process_give_heap(parent);
		return -ENOVCPU;
	}
	p = reserve(parent, vcpu, parent->name);
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
	if (pid > 0 && parent->ending)		/* nobody who ended the parent could see the child yet */
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

int process_wait(int parent, int pid, bool nowait, int *status)
{
	struct process *me = process_find(parent), *p;
	bool some;

	for (;;) {
		some = false;
		for (p = processes; p < processes + PROCESS_MAX; p++) {
			if (p->state == PROCESS_FREE || p->parent != parent || (pid != -1 && p->pid != pid))
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
		wait_on(me ? &me->changed : &kernel_children);
	}
}

bool process_reap_background(struct process *copy)
{
	struct process *p;

	for (p = processes; p < processes + PROCESS_MAX; p++) {
		if (p->state != PROCESS_ZOMBIE || p->parent != KERNEL_PID || !p->background)
			continue;
		*copy = *p;
		p->state = PROCESS_FREE;
		return true;
	}
	return false;
}

void process_end(struct process *p, int status)
{
	if (p->ending || p->state == PROCESS_ZOMBIE)
		return;
	p->ending = true;
	p->status = status;
	thread_interrupt_all(p);
}

long process_interrupted(const struct process *p)
{
	return p->ending ? -EINTR : p->leaving ? -ERESTART : 0;
}

bool process_end_job(int job, int status)
{
	struct process *p;
	bool some = false;

	for (p = processes; p < processes + PROCESS_MAX; p++) {
		if (p->state == PROCESS_FREE || p->job != job)
			continue;
		process_end(p, status);		/* also one that is starting: it ends before its first instruction */
		some = true;
	}
	return some;
}

bool process_gets_keys(const struct process *p)
{
	const struct process *q;

	for (q = processes; q < processes + PROCESS_MAX; q++)
		if (q->state == PROCESS_LIVE && q->job == p->job && q->parent == KERNEL_PID && !q->background)
			return true;
	return false;
}

/* Children of one that is no more are the kernel's, which wants to know nothing of them. */
static void leave_children(int pid)
{
	struct process *p;

	for (p = processes; p < processes + PROCESS_MAX; p++) {
		if (p->state == PROCESS_FREE || p->parent != pid)
			continue;
		if (p->state == PROCESS_ZOMBIE)
			p->state = PROCESS_FREE;
		p->parent = ORPHAN;
	}
}

/* The current thread was the last of `p`: from here on it is the kernel's. */
static void finish(struct process *p)
{
	struct process *parent;

	thread_current()->process = NULL;
	files_close_all(p);
	user_leave_space();
	shared_process_ends(p);
	space_destroy(&p->space);
	uservcpu_process_ends(p->pid);
	leave_children(p->pid);
	/* space_destroy() lets others run: the parent may have ended meanwhile */
	parent = process_find(p->parent);
	p->state = p->parent == ORPHAN ? PROCESS_FREE : PROCESS_ZOMBIE;
	wake_all(parent ? &parent->changed : &kernel_children);
}

_Noreturn void process_end_thread(uint64_t result)
{
	struct thread *t = thread_current();
	struct process *p = t->process;
	struct process_thread *slot = &p->threads[t->slot];
	uint64_t top = space_stack_top(t->slot);

	if (p->num_threads > 1)		/* while we count: with the last one the space goes */
		space_unmap(&p->space, top - STACK_BYTES, top);
	slot->state = SLOT_ENDED;
	slot->result = result;
	move_look_again();
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
		move_park(frame);
}

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
	int error;

	if (slot < 0)
		return -EAGAIN;
	if (!space_translate(&p->space, rip, SPACE_EXECUTE))
		return -EFAULT;
	p->threads[slot] = (struct process_thread){ .state = SLOT_RUNS };
	p->num_threads++;
	program_start_frame(&frame, rip, top - 8);	/* as after a call */
	frame.rdi = arg0;
	frame.rsi = arg1;
	error = space_map(&p->space, top - STACK_BYTES, top, USER_DATA) ? 0 : -ENOMEM;
	if (!error) {
		error = thread_create_user(p, (unsigned int)slot, &frame, NULL);
		if (!error)
			return slot;
		space_unmap(&p->space, top - STACK_BYTES, top);
	}
	p->threads[slot].state = SLOT_FREE;
	p->num_threads--;
	wake_all(&p->changed);		/* who joins it already shall hear that it never was */
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

void process_leave_vcpu(int vcpu)
{
	struct process *p;

	for (p = processes; p < processes + PROCESS_MAX; p++)
		if (p->vcpu == vcpu)
			p->vcpu = BEST_EFFORT_VCPU;
}

uint64_t process_used(const struct process *p)
{
	return p->used + thread_used_by(p);
}
