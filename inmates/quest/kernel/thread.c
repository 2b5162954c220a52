// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/context.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../mm/kstack.h"
#include "../user/include/quest/errors.h"
#include "dispatch.h"
#include "panic.h"
#include "threadslot.h"

static struct thread *idle;
static int next_id = THREAD_IDLE_ID + 1;

struct thread *thread_current(void)
{
	return dispatch_current();
}

const char *thread_state_name(enum thread_state state)
{
	static const char *const names[] = {
		"free", "ready", "sleeping", "waiting", "dead", "new",
	};

	return names[state];
}

void threads_init(unsigned int timer_vector, enum admission_test admission, bool background)
{
	idle = threadslots_init();
	if (!idle)
		panic("no memory for the tables of stacks");
	copy_string(idle->name, "idle", sizeof(idle->name));
	idle->id = THREAD_IDLE_ID;
	idle->state = THREAD_READY;
	dispatch_init(idle, timer_vector, admission, background);
}

int thread_new(struct thread **made, const char *name, int vcpu, unsigned int kept)
{
	int error = sched_vcpu(dispatch_sched(), vcpu) ? threadslot_take(made, kept) : -EAGAIN;

	if (error)
		return error;
	copy_string((*made)->name, name, sizeof((*made)->name));
	(*made)->id = next_id;
	next_id = next_id == INT32_MAX ? THREAD_IDLE_ID + 1 : next_id + 1;
	return 0;
}

_Noreturn void thread_exit(void)
{
	irq_disable();
	thread_current()->state = THREAD_DEAD;
	dispatch_block();
	panic("a dead thread ran");
}

static _Noreturn void begin(thread_function *fn, void *arg)
{
	dispatch_arrived();
	irq_enable();
	fn(arg);
	thread_exit();
}

/*
 * first_return() starts with RSP at `top`, a multiple of 16. So the stack is aligned at its call
 * instruction, as the ABI requires.
 */
void thread_prepare(struct thread *t, uint64_t top, thread_function *fn, void *arg)
{
	struct context *c = (struct context *)top - 1;

	memset(c, 0, sizeof(*c));
	c->r12 = (uintptr_t)fn;
	c->r13 = (uintptr_t)arg;
	c->r14 = (uintptr_t)begin;
	c->rip = (uintptr_t)first_return;
	t->rsp = (uintptr_t)c;
}

int thread_create(const char *name, int vcpu, thread_function *fn, void *arg)
{
	bool irqs = irq_save();
	struct thread *t;
	int id = thread_new(&t, name, vcpu, 0);

	if (!id) {
		id = t->id;
		thread_prepare(t, t->stack + KSTACK_BYTES - 16, fn, arg);
		dispatch_admit(t, vcpu);
	}
	irq_restore(irqs);
	dispatch_preempt();
	return id;
}

void thread_rename(const char *name)
{
	copy_string(thread_current()->name, name, THREAD_NAME);
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

uint64_t thread_used_by(const struct process *p)
{
	const struct thread *t;
	uint64_t sum = 0;
	int i;

	for (i = 0; i < THREAD_MAX; i++) {
		t = threadslot_at(i);
		if (t && t->process == p)
			sum += dispatch_used(t);
	}
	return sum;
}

bool thread_snapshot(int i, struct thread *copy)
{
	bool irqs = irq_save();
	const struct thread *t = threadslot_at(i);

	if (t) {
		*copy = *t;
		copy->sched.used = dispatch_used(t);
	}
	irq_restore(irqs);
	return t;
}

uint64_t thread_idle_cycles(void)
{
	bool irqs = irq_save();
	uint64_t used = dispatch_used(idle);

	irq_restore(irqs);
	return used;
}
