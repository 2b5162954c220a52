/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interrupt handlers run as threads on an I/O VCPU, within its budget. The interrupt itself only
 * wakes the thread. It also blocks its own source (gate.h) until the thread has done its work. All
 * other sources stay enabled. So the interrupts of one device, however many, cost at most the
 * budget of its I/O VCPU, and do not delay other devices.
 */
#ifndef QUEST_DEFERRED_H
#define QUEST_DEFERRED_H

#include <stdbool.h>
#include "gate.h"
#include "thread.h"
#include "wait.h"

struct deferred {
	struct gate_source source;
	/* masks the source at the device or its pin; not used for GATE_PRIORITY */
	void (*mask)(bool masked);
	/* does all pending work of the device, with interrupts on */
	void (*handler)(void);
	/* class of the device (user/include/quest/classes.h) */
	int io_class;
	/* threads that wait for the device; the handler inherits their priority; NULL: not known */
	const struct wait_queue *served;
	struct wait_queue idle;			/* the thread waits here while it has no work */
	int vcpu;
};

/*
 * Starts the thread of a driver, once. The driver has filled in source, mask, handler, io_class and
 * served. The thread runs on the I/O VCPU for the driver's class (vcpu/iovcpu.h). Returns false if
 * there is no memory.
 */
bool deferred_start(struct deferred *d, const char *name);

/* As deferred_start(), on VCPU `vcpu`; io_class is not used. */
bool deferred_start_on(struct deferred *d, const char *name, int vcpu);

/* The interrupt's handler must call it first. */
void deferred_raise(struct deferred *d);

#endif
