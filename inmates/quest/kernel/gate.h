/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides which interrupt sources are blocked while their handlers are due. Pure logic, for
 * deferred.c. A source is masked alone, at the device or at its pin. A source that cannot be masked
 * may interrupt a second time. Then the task priority blocks it, with all vectors of its class and
 * of lower classes.
 */
#ifndef QUEST_GATE_H
#define QUEST_GATE_H

#include <stdbool.h>
#include <stdint.h>

#define GATE_CLASSES	16		/* number of priority classes, of 16 vectors each */

enum gate_hold {
	GATE_PRIORITY,			/* the source cannot be masked by itself */
	/* the source is masked until its handler begins; interrupt edges in that time are lost */
	GATE_EDGE,
	GATE_LEVEL,			/* the source is masked until its handler has ended */
};

/* Fill in hold and vector; the rest must be zero. */
struct gate_source {
	enum gate_hold hold;
	uint8_t vector;
	/* its handler must run; the handler runs once, however often the source has fired */
	bool due;
	bool running;			/* its handler is running */
	bool held;			/* the source is masked, or its class is blocked */
};

struct gate {
	uint8_t shut[GATE_CLASSES];	/* for each class, the number of sources that block it */
};

/* Call it when source `s` has fired. Returns true if the source must be blocked now. */
bool gate_fire(struct gate *g, struct gate_source *s);

/*
 * Call them when the handler of `s` begins, and when it has ended. They return true if `s` must be
 * enabled again.
 */
bool gate_begin(struct gate *g, struct gate_source *s);
bool gate_end(struct gate *g, struct gate_source *s);

/* Returns the task priority that blocks all classes in `shut`; 0: no class is blocked. */
unsigned int gate_priority(const struct gate *g);

#endif
