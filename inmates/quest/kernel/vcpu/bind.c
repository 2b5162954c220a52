// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include "../dispatch.h"
#include "../threadslot.h"
#include "bind.h"

int vcpu_bind(struct thread *t, int id)
{
	bool irqs = irq_save();
	int error = dispatch_bind(t, id);

	irq_restore(irqs);
	dispatch_preempt();
	return error;
}

void vcpu_move_threads(int from, int to)
{
	bool irqs = irq_save();
	struct thread *t;
	int i;

	/* all of them before others run: a thread may inherit `own_vcpu` of another one (lock.c) */
	for (i = 0; i < THREAD_MAX; i++) {
		t = threadslot_at(i);
		if (t && t->own_vcpu == from)
			t->own_vcpu = to;
	}
	let_interrupts_in();
	for (i = 0; i < THREAD_MAX; i++) {
		t = threadslot_at(i);
		if (!t || t->sched.vcpu != from)
			continue;
		(void)vcpu_bind(t, to);
		let_interrupts_in();
	}
	irq_restore(irqs);
}

bool vcpu_is_own(int id)
{
	const struct thread *t;
	int i;

	for (i = 0; i < THREAD_MAX; i++) {
		t = threadslot_at(i);
		if (t && t->own_vcpu == id)
			return true;
	}
	return false;
}
