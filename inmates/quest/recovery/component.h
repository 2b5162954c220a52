/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Components: how they run now, their start and their end. The thread of recovery.c changes them.
 * Times are TSC cycles. Interrupts are off in every call; component_start() and component_stop()
 * let them in.
 */
#ifndef QUEST_RECOVERY_COMPONENT_H
#define QUEST_RECOVERY_COMPONENT_H

#include "decide.h"

enum component_state {
	COMPONENT_DOWN,			/* a component that it needs is down, or it has not begun */
	COMPONENT_RUNS,
	COMPONENT_ENDED,		/* with status 0, which is no fault (`ends`) */
	COMPONENT_MOVED,		/* its program is in another cell now */
	COMPONENT_LOST,			/* given up */
	COMPONENT_STANDBY,		/* another cell has it, or is to take it */
};

struct component {
	const struct component_rule *rule;
	struct history history;
	enum component_state state;
	int vcpu, pid;
	char program[ARCHIVE_NAME];	/* the implementation that runs */
	unsigned int faults;
	uint64_t longest;		/* outage, from the fault until it was back */
	unsigned int starts;		/* recovery_beat() returns it */
	int start_error;		/* of the last start; 0: it succeeded */
	uint64_t started;
	/* for detectors: the VCPU's use, and since when it is so; since when a peer has stopped */
	uint64_t used, used_since, peer_gone;
	int channel;			/* number of the channel; -1: none */
	int outage;			/* the record that awaits the first heartbeat; -1: none */
	bool asked;			/* the shell asks for a restart */
};

extern struct component components[COMPONENTS_MAX];
extern struct component_rule rules[COMPONENTS_MAX];
extern unsigned int num_components;

/*
 * Prepares component `n` of rules[]: VCPU, channels, checkpoint. `period`: time between two looks.
 * Returns NULL, or why it cannot run.
 */
const char *component_init(unsigned int n, uint64_t period);

/* Whether component `n` has its VCPU, and the channels by which other cells know of it. */
bool component_is_ready(unsigned int n);

/* Returns why the last start failed, as a sentence in brackets; "" if it did not. */
const char *component_why(const struct component *c);

/* Starts the program. Sets .start_error, and the state to COMPONENT_RUNS in any case. */
void component_start(struct component *c);

/*
 * Ends the program and all that it has started, on the caller's VCPU, and waits for that. Returns
 * false if it has not ended at TSC `until`.
 */
bool component_stop(struct component *c, uint64_t until);

/* Frees the program of `c` if it has ended, and returns whether it was so. */
bool component_reap(struct component *c);

#endif
