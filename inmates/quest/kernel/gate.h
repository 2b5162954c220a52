/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which sources of interrupts are held while their handlers are due: pure logic, for deferred.c. A
 * source is held alone, at the device or at its pin. A source that cannot be masked may interrupt a
 * second time; then the task priority holds it, with all vectors of its class and of lower ones.
 */
#ifndef QUEST_GATE_H
#define QUEST_GATE_H

#include <stdbool.h>
#include <stdint.h>

#define GATE_CLASSES	16		/* classes of 16 vectors each */

enum gate_hold {
	GATE_PRIORITY,			/* cannot be masked alone */
	/* masked until its handler begins: edges in that time are lost */
	GATE_EDGE,
	GATE_LEVEL,			/* masked until its handler has ended */
};

/* Fill in hold and vector; the rest must be zero. */
struct gate_source {
	enum gate_hold hold;
	uint8_t vector;
	/* its handler must run, once, however often the source has fired */
	bool due;
	bool running;			/* its handler is running */
	bool held;			/* masked, or its class is shut */
};

struct gate {
	uint8_t shut[GATE_CLASSES];	/* how many sources hold each class */
};

/* Source `s` has fired. Returns true if it must be held now. */
bool gate_fire(struct gate *g, struct gate_source *s);

/* The handler of `s` begins, or has ended. Return true if `s` must be enabled again. */
bool gate_begin(struct gate *g, struct gate_source *s);
bool gate_end(struct gate *g, struct gate_source *s);

/* Returns the task priority that holds all shut classes; 0: none is shut. */
unsigned int gate_priority(const struct gate *g);

#endif
