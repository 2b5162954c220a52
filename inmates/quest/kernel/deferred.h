/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interrupt handlers as threads on an I/O VCPU. The interrupt itself only
 * wakes the thread and holds its own source (gate.h) until that thread has done
 * its work within its VCPU's budget; all other sources are let in. So a flood
 * of one device's interrupts costs what its I/O VCPU may use, and delays no
 * other device.
 */
#ifndef QUEST_DEFERRED_H
#define QUEST_DEFERRED_H

#include <stdbool.h>
#include "gate.h"
#include "thread.h"
#include "wait.h"

struct deferred {
	struct gate_source source;
	void (*mask)(bool masked);		/* at the device or its pin; unused for GATE_PRIORITY */
	void (*handler)(void);			/* the work, with interrupts on; looks at all there is to do */
	int io_class;				/* of its device (user/include/quest/classes.h) */
	const struct wait_queue *served;	/* those who wait for it give their priority; NULL: nobody known */
	struct wait_queue idle;			/* the thread, while it has nothing to do */
	int vcpu;
};

/*
 * Starts the thread of a driver that has filled in source, mask, handler, io_class and served; once. It
 * runs on the I/O VCPU for the driver's class (vcpu/iovcpu.h). Returns false if there is no memory.
 */
bool deferred_start(struct deferred *d, const char *name);

/* As deferred_start(), on VCPU `vcpu`; io_class is not used. */
bool deferred_start_on(struct deferred *d, const char *name, int vcpu);

/* From the interrupt's handler, first thing. */
void deferred_raise(struct deferred *d);

#endif
