// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <inmate/cpu.h>
#include "../arch/vectors.h"
#include "deferred.h"

/* The highest class has the timer, which is let through. */
#define SHUT	((VECTOR_TIMER >> 4) - 1)

static unsigned int raised;		/* handlers that have yet to begin */

static _Noreturn void serve(void *arg)
{
	struct deferred *d = arg;

	for (;;) {
		irq_disable();
		while (!d->raised)
			wait_on(&d->idle);
		d->raised = false;
		irq_enable();
		d->handler();
		irq_disable();
		if (!--raised)
			write_cr8(0);
		irq_enable();
	}
}

static void serve_thread(void *arg)
{
	serve(arg);
}

bool deferred_start(struct deferred *d, const char *name, int vcpu)
{
	d->vcpu = vcpu;
	return thread_create(name, vcpu, serve_thread, d) >= 0;
}

void deferred_raise(struct deferred *d)
{
	uint64_t since = rdtsc();

	if (!d->raised) {
		d->raised = true;
		raised++;
		write_cr8(SHUT);
	}
	wake_for(&d->idle, d->served, d->vcpu, since);
}
