/* SPDX-License-Identifier: GPL-2.0-only */
/* Which strategy comes next, and which components a fault affects. Pure. Times are microseconds. */
#ifndef QUEST_RECOVERY_DECIDE_H
#define QUEST_RECOVERY_DECIDE_H

#include "rule.h"

/* When each strategy of a component was used: use n at [n % STRATEGY_TIMES_MAX]. */
struct history {
	unsigned int uses[STRATEGIES_MAX];
	uint64_t at[STRATEGIES_MAX][STRATEGY_TIMES_MAX];
};

/*
 * Returns the strategy for a fault at `now`, and counts its use: the first one whose limit allows
 * it. A rollback also needs a checkpoint that is young enough (`checkpoint`), and a take-over
 * another cell that waits for it (`other`). After the last one comes STRATEGY_GIVE_UP.
 */
const struct strategy *decide(const struct component_rule *rule, struct history *history,
			      bool checkpoint, bool other, uint64_t now);

/* Returns the bits of component `which` and of all that need it, directly or by others. */
uint32_t decide_affected(const struct component_rule *rules, unsigned int n, unsigned int which);

#endif
