/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Components that run in three cells at the same time, each a replica of the others
 * (`replica=SEND,RECEIVE,RECEIVE,TIME`). The programs vote on their state at points that they
 * choose (vote.h), and a cell whose replica the two others outvote starts it again at a state on
 * which two cells agree. Interrupts are off in every call. Times are TSC cycles.
 */
#ifndef QUEST_RECOVERY_REPLICA_H
#define QUEST_RECOVERY_REPLICA_H

#include <stddef.h>
#include "rule.h"
#include "vote.h"

struct process;

/* Cell 0 is this one, and the others are in the order of the line. */
struct replica_counts {
	uint64_t votes;			/* of this cell, on which it and another one agreed */
	uint64_t number;		/* of the last vote in which this cell was outvoted */
	uint32_t page;			/* as replica_outvoted() returned it last */
	uint32_t outvoted[VOTE_CELLS];	/* how often the two others agreed on another state */
	uint32_t late[VOTE_CELLS];	/* how often it has not voted for TIME after two others */
};

/*
 * Takes the channels of component `n`. `period`: time between two looks. Returns NULL, or why it
 * cannot.
 */
const char *replica_init(unsigned int n, const struct component_rule *r, uint64_t period);

/* Whether replica_init() has succeeded for component `n`. */
bool replica_used(unsigned int n);

/*
 * Copies the newest state on which two cells agree to `to`, whole pages with room for `room` bytes,
 * and to this cell's own memory. Returns its size; 0: no state can be copied, or (`kept`) it is
 * not newer than the last state of this cell on which another one agreed. Lets interrupts in.
 */
size_t replica_fetch(unsigned int n, void *to, size_t room, bool kept);

/* The program starts, at the last agreed state (`resumes`) or afresh. */
void replica_begin(unsigned int n, bool resumes);

/*
 * Program `p` votes on its state, of which `state` is a copy in whole pages, and waits until
 * another cell agrees, for TIME at most. Returns how many cells agree, with RECOVERY_BEHIND if the
 * others agree on a later vote, or minus an error: EINVAL: the number is not above that of the last
 * vote, and the state not the same; ETIMEDOUT: no other cell agrees; EINTR. Lets interrupts in.
 */
long replica_vote(unsigned int n, const struct process *p, uint64_t number, const void *state,
		  size_t bytes);

/* The look of the thread `recovery` at the others, before the values of detectors below. */
void replica_look(unsigned int n, uint64_t now);

/* The page of the state that differs, from 1; above VOTE_PAGES: unknown; 0: it is not outvoted. */
unsigned int replica_outvoted(unsigned int n);

/* How many different states there are, if no two cells can agree; else 0. */
unsigned int replica_split(unsigned int n);

/* For how long the others have agreed on votes that this cell has not made. */
uint64_t replica_behind(unsigned int n, uint64_t now);

/* The counts of component `n`, which change at any time. */
const struct replica_counts *replica_counts(unsigned int n);

/* The name of the cell: 1 or 2. */
const char *replica_cell(unsigned int n, unsigned int cell);

#endif
