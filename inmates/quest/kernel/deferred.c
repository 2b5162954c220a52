// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <inmate/cpu.h>
#include "deferred.h"
#include "dispatch.h"
#include "vcpu/iovcpu.h"

static struct gate gate;

/*
 * Masks or unmasks the source of `d`, and sets the task priority, as the gate has decided.
 * Interrupts are off.
 */
static void hold(struct deferred *d)
{
	if (d->source.hold == GATE_PRIORITY)
		write_cr8(gate_priority(&gate));
	else
		d->mask(d->source.held);
}

static _Noreturn void serve(void *arg)
{
	struct deferred *d = arg;

	irq_disable();
	for (;;) {
		while (!d->source.due)
			wait_on(&d->idle);
		if (gate_begin(&gate, &d->source))
			hold(d);
		irq_enable();
		d->handler();
		irq_disable();
		if (gate_end(&gate, &d->source))
			hold(d);
		/* an interrupt may be pending in the APIC: the handler must run again for it */
		let_interrupts_in();
	}
}

static void serve_thread(void *arg)
{
	serve(arg);
}

bool deferred_start(struct deferred *d, const char *name)
{
	return deferred_start_on(d, name, iovcpu_select(d->io_class));
}

bool deferred_start_on(struct deferred *d, const char *name, int vcpu)
{
	d->vcpu = vcpu;
	return thread_create(name, vcpu, serve_thread, d) >= 0;
}

void deferred_raise(struct deferred *d)
{
	uint64_t since = rdtsc();

	if (gate_fire(&gate, &d->source))
		hold(d);
	wake_for(&d->idle, d->served, d->vcpu, since);
}
