/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interrupt handlers as threads on an I/O VCPU. The interrupt itself only
 * wakes the thread and shuts the door (task priority: CR8) to further
 * interrupts of devices until that thread has done its work within its
 * VCPU's budget. So a flood of interrupts costs what the I/O VCPU may use.
 */
#ifndef QUEST_DEFERRED_H
#define QUEST_DEFERRED_H

#include <stdbool.h>
#include "thread.h"

struct deferred {
	void (*handler)(void);			/* the work, with interrupts on; looks at all there is to do */
	const struct wait_queue *served;	/* those who wait for it give their priority; NULL: nobody known */
	struct wait_queue idle;			/* the thread, while it has nothing to do */
	int vcpu;
	bool raised;
};

/* Fill in handler and served; then this, once. False: no memory. */
bool deferred_start(struct deferred *d, const char *name, int vcpu);

/* From the interrupt's handler, first thing. */
void deferred_raise(struct deferred *d);

#endif
