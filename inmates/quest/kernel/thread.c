// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../arch/context.h"
#include "../arch/user.h"
#include "../mm/kstack.h"
#include "../user/include/quest/errors.h"
#include "dispatch.h"
#include "panic.h"
#include "process.h"
#include "thread.h"
#include "vcpu.h"

static struct thread threads[THREAD_MAX];
static int next_id = THREAD_IDLE_ID + 1;

_Noreturn void thread_begin(thread_function *fn, void *arg);

struct thread *thread_current(void)
{
	return dispatch_current();
}

const char *thread_state_name(enum thread_state state)
{
	static const char *const names[] = {
		"free", "ready", "sleeping", "waiting", "dead",
	};

	return names[state];
}

void threads_init(unsigned int timer_vector, enum admission_test admission)
{
	struct thread *t = &threads[0];

	if (!kstacks_init(THREAD_MAX))
		panic("no memory for the tables of stacks");
	copy_string(t->name, "idle", sizeof(t->name));
	t->id = THREAD_IDLE_ID;
	t->state = THREAD_READY;
	dispatch_init(t, timer_vector, admission);
}

/* The last ones are kept from programs, but for the first thread of what the shell starts. */
static struct thread *free_slot(unsigned int kept)
{
	unsigned int i;

	for (i = 0; i < THREAD_MAX - kept; i++)
		if (threads[i].state == THREAD_FREE)
			return &threads[i];
	return NULL;
}

/* first_return() starts with RSP at `top`, a multiple of 16, so that its call is aligned as the ABI says */
static void prepare_stack(struct thread *t, uint64_t top, thread_function *fn, void *arg)
{
	struct context *c = (struct context *)top - 1;

	memset(c, 0, sizeof(*c));
	c->r12 = (uintptr_t)fn;
	c->r13 = (uintptr_t)arg;
	c->rip = (uintptr_t)first_return;
	t->rsp = (uintptr_t)c;
}

/* A thread with a stack, not yet ready. 0 or minus an error: no slot or no such VCPU, no memory. */
static int new_thread(struct thread **made, const char *name, int vcpu, unsigned int kept)
{
	struct thread *t = sched_vcpu(dispatch_sched(), vcpu) ? free_slot(kept) : NULL;
	uint64_t stack = t ? kstack_make((unsigned int)(t - threads)) : 0;

	if (!stack)
		return t ? -ENOMEM : -EAGAIN;
	memset(t, 0, sizeof(*t));
	t->stack = stack;
	copy_string(t->name, name, sizeof(t->name));
	t->id = next_id;
	next_id = next_id == INT32_MAX ? THREAD_IDLE_ID + 1 : next_id + 1;
	*made = t;
	return 0;
}

int thread_create(const char *name, int vcpu, thread_function *fn, void *arg)
{
	bool irqs = irq_save();
	struct thread *t;
	int id = new_thread(&t, name, vcpu, 0);

	if (!id) {
		id = t->id;
		prepare_stack(t, t->stack + KSTACK_BYTES - 16, fn, arg);
		dispatch_admit(t, vcpu);
	}
	irq_restore(irqs);
	dispatch_preempt();
	return id;
}

static void begin_user(void *frame)
{
	irq_disable();
	process_leave(frame);
	user_enter(frame);
}

/* From the top: FPU state, the frame of ring 3, the kernel's context. */
int thread_create_user(struct process *p, unsigned int slot, const struct trap_frame *frame,
		       const struct thread *like)
{
	struct trap_frame *first;
	struct thread *t;
	bool shells = p->parent == KERNEL_PID && p->state == PROCESS_STARTING;
	int error = new_thread(&t, p->name, p->vcpu, shells ? 0 : SHELL_THREADS);

	if (error)
		return error;
	t->process = p;
	t->slot = slot;
	t->kernel_top = t->stack + KSTACK_BYTES - sizeof(struct fpu_state);
	t->fpu = (struct fpu_state *)t->kernel_top;
	if (like)
		user_fpu_copy(t->fpu, like);
	else
		user_fpu_init(t->fpu);
	first = (struct trap_frame *)t->kernel_top - 1;
	*first = *frame;
	prepare_stack(t, (uint64_t)first, begin_user, first);
	dispatch_admit(t, p->vcpu);
	return 0;
}

void thread_move_all(int from, int to)
{
	struct thread *t;

	for (t = threads; t < threads + THREAD_MAX; t++) {
		if (t->state == THREAD_FREE)
			continue;
		if (t->own_vcpu == from)
			t->own_vcpu = to;
		if (t->sched.vcpu == from)
			(void)vcpu_bind(t, to);
	}
}

bool thread_owns_vcpu(int id)
{
	const struct thread *t;

	for (t = threads; t < threads + THREAD_MAX; t++)
		if (t->state != THREAD_FREE && t->own_vcpu == id)
			return true;
	return false;
}

void thread_collect(const struct process *p, struct thread *by_slot[])
{
	struct thread *t;

	memset(by_slot, 0, STACKS_MAX * sizeof(*by_slot));
	for (t = threads; t < threads + THREAD_MAX; t++)
		if (t->state != THREAD_FREE && t->process == p)
			by_slot[t->slot] = t;
}

void thread_rename(const char *name)
{
	copy_string(thread_current()->name, name, THREAD_NAME);
}

_Noreturn void thread_begin(thread_function *fn, void *arg)
{
	dispatch_arrived();
	irq_enable();
	fn(arg);
	thread_exit();
}

_Noreturn void thread_exit(void)
{
	irq_disable();
	thread_current()->state = THREAD_DEAD;
	dispatch_block();
	panic("a dead thread ran");
}

void thread_release(struct thread *t)
{
	user_forget(t);
	kstack_drop((unsigned int)(t - threads));
	t->state = THREAD_FREE;
}

/* From boot/start.S; the idle thread's. */
extern char boot_guard[], boot_stack[];

const struct thread *thread_guarded(uint64_t address)
{
	int n = kstack_guarded(address);

	if (address >= (uintptr_t)boot_guard && address < (uintptr_t)boot_stack)
		n = 0;
	return n < 0 ? NULL : &threads[n];
}

void thread_sleep_us(uint64_t us)
{
	thread_sleep_until(rdtsc() + timer_from_us(us));
}

void thread_sleep_until(uint64_t at)
{
	bool irqs = irq_save();
	struct thread *t = thread_current();

	t->state = THREAD_SLEEPING;
	dispatch_sleep(at);
	irq_restore(irqs);
}

bool wait_on_until(struct wait_queue *q, uint64_t at)
{
	struct thread *t = thread_current();

	t->state = THREAD_WAITING;
	t->late = false;
	t->waiting_on = q;
	t->next_waiting = q->head;
	q->head = t;
	if (at == UINT64_MAX)
		dispatch_block();
	else
		dispatch_sleep(at);
	return !t->late;
}

void wait_on(struct wait_queue *q)
{
	(void)wait_on_until(q, UINT64_MAX);
}

/* The shortest period of the VCPUs of those who wait; 0: nobody does. */
static uint64_t shortest_period(const struct wait_queue *q)
{
	uint64_t shortest = 0, period;
	const struct thread *t;

	for (t = q ? q->head : NULL; t; t = t->next_waiting) {
		if (sched_vcpu(dispatch_sched(), t->sched.vcpu)->params.type == BACKGROUND_VCPU)
			continue;		/* has no priority to give */
		period = vcpu_period(sched_vcpu(dispatch_sched(), t->sched.vcpu));
		if (!shortest || period < shortest)
			shortest = period;
	}
	return shortest;
}

static void wake_queue(struct wait_queue *q, uint64_t period, uint64_t now)
{
	struct thread *t = q->head, *next;

	q->head = NULL;
	for (; t; t = next) {
		next = t->next_waiting;
		t->next_waiting = NULL;
		t->waiting_on = NULL;
		dispatch_wake_for(t, period, now);
	}
}

void wake_all(struct wait_queue *q)
{
	bool irqs = irq_save();

	wake_queue(q, 0, rdtsc());
	irq_restore(irqs);
	dispatch_preempt();
}

void wake_for(struct wait_queue *q, const struct wait_queue *served, int vcpu, uint64_t since)
{
	bool irqs = irq_save();

	/* all at `since`: what comes after it is not to be charged to the interrupted thread */
	wake_queue(q, shortest_period(served), since);
	sched_charge_for(dispatch_sched(), vcpu, since, rdtsc());
	irq_restore(irqs);
}

static void stop_waiting(struct thread *t)
{
	struct thread **at = &t->waiting_on->head;

	while (*at != t)
		at = &(*at)->next_waiting;
	*at = t->next_waiting;
	t->next_waiting = NULL;
	t->waiting_on = NULL;
}

void thread_expire(struct thread *t)
{
	if (t->state != THREAD_WAITING)
		return;
	stop_waiting(t);
	t->late = true;
}

void thread_wake(struct thread *t)
{
	stop_waiting(t);
	dispatch_wake(t);
}

void thread_interrupt_all(const struct process *p)
{
	struct thread *t;

	for (t = threads; t < threads + THREAD_MAX; t++) {
		if (t->state == THREAD_FREE || t->process != p)
			continue;
		if (t->state == THREAD_WAITING)
			stop_waiting(t);
		if (t->state == THREAD_WAITING || t->state == THREAD_SLEEPING)
			dispatch_wake(t);
	}
}

uint64_t thread_used_by(const struct process *p)
{
	const struct thread *t;
	uint64_t sum = 0;

	for (t = threads; t < threads + THREAD_MAX; t++)
		if (t->state != THREAD_FREE && t->process == p)
			sum += dispatch_used(t);
	return sum;
}

bool thread_snapshot(int i, struct thread *copy)
{
	bool irqs = irq_save(), used = threads[i].state != THREAD_FREE;

	if (used) {
		*copy = threads[i];
		copy->sched.used = dispatch_used(&threads[i]);
	}
	irq_restore(irqs);
	return used;
}

uint64_t thread_idle_cycles(void)
{
	bool irqs = irq_save();
	uint64_t used = dispatch_used(&threads[0]);

	irq_restore(irqs);
	return used;
}
