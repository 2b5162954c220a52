/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Moves are served one after the other: a cell takes part in one at a time, as the source or as
 * the destination, since all its links share one VCPU. A source takes the turn of its own cell,
 * then asks for that of the destination. It never waits while it has a turn: if either cell is
 * busy, it gives up both, and the program continues until the next attempt.
 */
#ifndef QUEST_MIGRATION_TURN_H
#define QUEST_MIGRATION_TURN_H

#include <stdbool.h>
#include <stdint.h>
#include "link.h"

/* the longest turn: then others may have it too, so that a silent cell does not keep them long */
#define TURN_US		MIG_SILENCE_US

/*
 * Takes this cell's turn for link `l` for `us` from now on, even if the link has it already. Then
 * it ends after TURN_US in all. Returns false if another link has it, or has asked for it while `l`
 * had it last.
 */
bool turn_take(const struct mig_link *l, uint64_t us);

/* Ends the turn of link `l`, if it has it. */
void turn_end(const struct mig_link *l);

/*
 * Sleeps for some milliseconds if another link has the turn. Call it after each message: questions
 * of the cell at the other end must not delay the move by that link, which has a bound (strict.h).
 */
void turn_respect(const struct mig_link *l);

/*
 * Takes the turn of the source, and if `both`, that of the destination, which then expects a
 * program; else the source has the turn of the destination already. Returns 0; -EAGAIN after some
 * time: a cell is busy; or another error of the link. Then the source has neither turn.
 * turn_return() ends both turns if no program comes. For the source, with interrupts on.
 */
int turn_begin(struct mig_link *l, bool both);
void turn_return(struct mig_link *l);

/* Answers the question for the turn, at the destination. */
void turn_answer(struct mig_link *l);

#endif
