// SPDX-License-Identifier: GPL-2.0-only
#include "protocol.h"

/* In each table 0 means that the event leaves the state as it is; else it is the state plus 1. */
#define TO(state)	((state) + 1)

static const unsigned char source[][MIG_EVENTS] = {
	[MIG_SENDS] = {
		[MIG_REFUSES] = TO(MIG_KEEPS), [MIG_RUNS] = TO(MIG_KEEPS),
		[MIG_LOST] = TO(MIG_KEEPS), [MIG_GIVES_UP] = TO(MIG_KEEPS),
		[MIG_SENT_ALL] = TO(MIG_DOUBTS),
	},
	/* a destination that answers MIG_ACCEPTS is broken, and does not have the program */
	[MIG_DOUBTS] = {
		[MIG_ACCEPTS] = TO(MIG_KEEPS), [MIG_REFUSES] = TO(MIG_KEEPS),
		[MIG_LOST] = TO(MIG_KEEPS), [MIG_RUNS] = TO(MIG_GAVE),
	},
	[MIG_KEEPS] = { 0 },
	[MIG_GAVE] = { 0 },
};

static const unsigned char destination[][MIG_EVENTS] = {
	[MIG_IDLE] = { [MIG_TOOK] = TO(MIG_LOADS), [MIG_TOOK_ALL] = TO(MIG_STARTS) },
	[MIG_LOADS] = {
		[MIG_TOOK_ALL] = TO(MIG_STARTS), [MIG_CANNOT] = TO(MIG_IDLE),
		[MIG_ABORTS] = TO(MIG_IDLE), [MIG_LOST] = TO(MIG_IDLE),
	},
	[MIG_STARTS] = { 0 },
};

static const unsigned char answers[MIG_EVENTS] = {
	[MIG_TOOK] = TO(MIG_ACCEPTS), [MIG_TOOK_ALL] = TO(MIG_RUNS),
	[MIG_CANNOT] = TO(MIG_REFUSES), [MIG_ABORTS] = TO(MIG_REFUSES),
};

enum mig_source mig_source_next(enum mig_source state, enum mig_event event)
{
	unsigned int to = source[state][event];

	return to ? (enum mig_source)(to - 1) : state;
}

enum mig_destination mig_destination_next(enum mig_destination state, enum mig_event event)
{
	unsigned int to = destination[state][event];

	return to ? (enum mig_destination)(to - 1) : state;
}

enum mig_event mig_answer(enum mig_event event)
{
	return answers[event] ? (enum mig_event)(answers[event] - 1) : MIG_EVENTS;
}
