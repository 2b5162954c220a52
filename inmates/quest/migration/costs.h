/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The CPU time that a side of a move takes, and the longest time until it is done (ipc/bounds.h).
 * The estimate is a number of copies of a page, whose cost is measured at the start. Each move
 * whose use was above the estimate makes later estimates longer.
 */
#ifndef QUEST_MIGRATION_COSTS_H
#define QUEST_MIGRATION_COSTS_H

#include <stdint.h>
#include "wire.h"

enum mig_side { MIG_PACKING, MIG_UNPACKING, MIG_SIDES };

/* Measures a copy. Call it once, when there is memory, with interrupts on. */
void mig_costs_start(void);

/* Returns the CPU time in cycles that a side takes for a program. */
uint64_t mig_cost(enum mig_side side, const struct mig_size *size);

/* Returns the CPU time that the current thread has used. */
uint64_t mig_used(void);

/* A side has taken `used` cycles for such a program, without messages in between. */
void mig_cost_learn(enum mig_side side, const struct mig_size *size, uint64_t used);

/*
 * Returns the longest time until the current thread, on its own VCPU, has run for `demand` cycles:
 * from now on, if its budget is present and sufficient (`ready`), else from any time on.
 * BOUNDS_NEVER: there is no bound. May take milliseconds: interrupts are on. Uses `set`, which only
 * this thread uses.
 */
uint64_t mig_wait(struct admission_entry set[SCHED_VCPUS], uint64_t demand, bool ready);

#endif
