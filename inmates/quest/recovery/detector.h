/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Detectors of faults: rows of one table. Each measures a value of a component, and a value above
 * the component's limit is a fault. Interrupts are off in every call. Times are TSC cycles.
 */
#ifndef QUEST_RECOVERY_DETECTOR_H
#define QUEST_RECOVERY_DETECTOR_H

#include "component.h"

struct process;

enum detector_kind {
	/* the end of a program wakes recovery: found after a period of its VCPU at most */
	DETECTOR_EVENT,
	/* looks once in a period: found two periods after the limit was exceeded at most */
	DETECTOR_US, DETECTOR_NUMBER,
	/* the same, of replicas only */
	DETECTOR_VOTE
};

struct detector {
	const char *name;
	enum detector_kind kind;
	/* returns the value of `c` at `now`; its program `p` is NULL if it could not start */
	uint64_t (*measure)(struct component *c, const struct process *p, uint64_t now);
	uint64_t looks, cycles;		/* its cost so far */
	uint64_t found, latest;		/* faults, and the longest time until it found one */
};

extern struct detector detectors[DETECTORS];

/* Returns the first detector that finds a fault of `c`, and the value; -1: none does. */
int detector_look(struct component *c, const struct process *p, uint64_t *value);

#endif
