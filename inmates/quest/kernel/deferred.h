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
	const struct wait_queue *served;	/* those who wait for it give their priority; NULL: nobody known */
	struct wait_queue idle;			/* the thread, while it has nothing to do */
	int vcpu;
};

/* Fill in source, mask, handler and served; then this, once. False: no memory. */
bool deferred_start(struct deferred *d, const char *name, int vcpu);

/* From the interrupt's handler, first thing. */
void deferred_raise(struct deferred *d);

#endif
