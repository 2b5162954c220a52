// SPDX-License-Identifier: GPL-2.0-only
#include "protocol.h"

/* In each table 0 means that the event leaves the state as it is; else it is the state plus 1. */
#define TO(state)	((state) + 1)

static const unsigned char source[][EV_COUNT] = {
	[SRC_SENDS] = {
		[EV_REFUSES] = TO(SRC_KEEPS), [EV_RUNS] = TO(SRC_KEEPS),
		[EV_LOST] = TO(SRC_KEEPS), [EV_GIVES_UP] = TO(SRC_KEEPS),
		[EV_SENT_ALL] = TO(SRC_DOUBTS),
	},
	/* a destination that answers EV_ACCEPTS is broken, and does not have the program */
	[SRC_DOUBTS] = {
		[EV_ACCEPTS] = TO(SRC_KEEPS), [EV_REFUSES] = TO(SRC_KEEPS),
		[EV_LOST] = TO(SRC_KEEPS), [EV_RUNS] = TO(SRC_GAVE),
	},
	[SRC_KEEPS] = { 0 },
	[SRC_GAVE] = { 0 },
};

static const unsigned char destination[][EV_COUNT] = {
	[DST_IDLE] = { [EV_TOOK] = TO(DST_LOADS), [EV_TOOK_ALL] = TO(DST_STARTS) },
	[DST_LOADS] = {
		[EV_TOOK_ALL] = TO(DST_STARTS), [EV_CANNOT] = TO(DST_IDLE),
		[EV_ABORTS] = TO(DST_IDLE), [EV_LOST] = TO(DST_IDLE),
	},
	[DST_STARTS] = { 0 },
};

static const unsigned char answers[EV_COUNT] = {
	[EV_TOOK] = TO(EV_ACCEPTS), [EV_TOOK_ALL] = TO(EV_RUNS),
	[EV_CANNOT] = TO(EV_REFUSES), [EV_ABORTS] = TO(EV_REFUSES),
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
	return answers[event] ? (enum mig_event)(answers[event] - 1) : EV_COUNT;
}
