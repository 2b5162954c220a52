// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include "../drivers/bell.h"
#include "../kernel/dispatch.h"
#include "bellcost.h"

#define ROUNDS	8
#define REST_US	10000	/* then the I/O VCPU has its whole budget again */
#define MARGIN	2	/* for the interrupt's way to the cell, and for caches */

/* The shortest of some times has no other thread in it. */
static uint64_t serve(void)
{
	uint64_t least = UINT64_MAX, cycles;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		thread_sleep_us(REST_US);
		cycles = bell_try();
		least = cycles < least ? cycles : least;
	}
	return MARGIN * least;
}

uint64_t bellcost_wake(void)
{
	static uint64_t wake;
	const struct vcpu *v;
	bool irqs = irq_save();
	uint64_t cost;

	v = bell_vcpu() < 0 ? NULL : sched_vcpu(dispatch_sched(), bell_vcpu());
	irq_restore(irqs);
	if (!v || wake)
		return wake;
	cost = serve();
	irqs = irq_save();
	wake = cost + cost * v->params.period / v->params.budget;
	irq_restore(irqs);
	return wake;
}
