/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which sources of interrupts are held while their handlers are due: pure logic, for deferred.c.
 * A source is held alone, at the device or at its pin. One that cannot be masked is let in once
 * more, and is then held by the task priority, with all of its class and of lower ones.
 */
#ifndef QUEST_GATE_H
#define QUEST_GATE_H

#include <stdbool.h>
#include <stdint.h>

#define GATE_CLASSES	16		/* of vectors: 16 each */

enum gate_hold {
	GATE_PRIORITY,			/* nothing masks it alone */
	GATE_EDGE,			/* masked until its handler begins: an edge meanwhile is lost */
	GATE_LEVEL,			/* masked until its handler has ended */
};

/* Fill in hold and vector; the rest is zero. */
struct gate_source {
	enum gate_hold hold;
	uint8_t vector;
	bool due;			/* its handler is to run: once, however often it has fired */
	bool running;			/* its handler runs */
	bool held;			/* masked, or its class is shut */
};

struct gate {
	uint8_t shut[GATE_CLASSES];	/* sources that hold their class */
};

/* `s` has fired. True: hold it now. */
bool gate_fire(struct gate *g, struct gate_source *s);

/* Its handler begins, or has ended. True: let it in again. */
bool gate_begin(struct gate *g, struct gate_source *s);
bool gate_end(struct gate *g, struct gate_source *s);

/* The task priority that holds the classes that are shut, 0: none. */
unsigned int gate_priority(const struct gate *g);

#endif
