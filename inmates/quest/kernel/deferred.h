/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interrupt handlers as threads on an I/O VCPU. The interrupt itself only wakes the thread and
 * holds its own source (gate.h) until the thread has done its work, within the budget of its VCPU.
 * All other sources stay enabled. So a flood of interrupts of one device costs no more than the
 * budget of its I/O VCPU, and delays no other device.
 */
#ifndef QUEST_DEFERRED_H
#define QUEST_DEFERRED_H

#include <stdbool.h>
#include "gate.h"
#include "thread.h"
#include "wait.h"

struct deferred {
	struct gate_source source;
	/* at the device or its pin; not used for GATE_PRIORITY */
	void (*mask)(bool masked);
	/* the work, with interrupts on; does all that there is to do */
	void (*handler)(void);
	int io_class;				/* of its device (user/include/quest/classes.h) */
	/* threads that wait for it, whose priority it inherits; NULL: not known */
	const struct wait_queue *served;
	struct wait_queue idle;			/* the thread waits here while it has no work */
	int vcpu;
};

/*
 * Starts the thread of a driver that has filled in source, mask, handler, io_class and served;
 * once. It runs on the I/O VCPU for the driver's class (vcpu/iovcpu.h). Returns false if there is
 * no memory.
 */
bool deferred_start(struct deferred *d, const char *name);

/* As deferred_start(), on VCPU `vcpu`; io_class is not used. */
bool deferred_start_on(struct deferred *d, const char *name, int vcpu);

/* The first call of the interrupt's handler. */
void deferred_raise(struct deferred *d);

#endif
