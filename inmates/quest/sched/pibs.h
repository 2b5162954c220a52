/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The server behind an I/O VCPU: priority inheritance, bandwidth preserving (Danish, Li and West,
 * RTAS 2011). It has a share U = budget / period of the CPU. Its priority is that of the VCPU for
 * which it works, whose period T it inherits. It may then use U * T. After using c from time t on,
 * it is eligible again at t + c / U. Plain data. Times are TSC cycles.
 */
#ifndef QUEST_PIBS_H
#define QUEST_PIBS_H

#include <stdbool.h>
#include <stdint.h>

struct pibs {
	/* U as a fraction; `period` is used when none is inherited */
	uint64_t budget, period;
	uint64_t inherited;		/* T now */
	/* t_e, the eligibility time; while left > 0: t, when the present budget was first used */
	uint64_t eligible;
	uint64_t left;			/* of the present budget; 0: it has no budget */
	uint64_t used;			/* of the present budget */
};

/* Initialises the server. 0 < budget < period. It is eligible from `at` on. */
void pibs_init(struct pibs *p, uint64_t budget, uint64_t period, uint64_t at);

/*
 * A thread of it wakes to work for a VCPU with period `period` (0: not known). `active`: it was
 * runnable already.
 */
void pibs_wake(struct pibs *p, uint64_t period, bool active, uint64_t now);

/* It is dispatched in the foreground. A new budget begins if it has none. */
void pibs_dispatch(struct pibs *p, uint64_t now);

/* Return from when on it may run, and the cycles that it may run then. */
uint64_t pibs_eligible(const struct pibs *p);
uint64_t pibs_left(const struct pibs *p);

/* It ran for `delta` cycles. Returns the cycles of overrun, which delay its next budget. */
uint64_t pibs_charge(struct pibs *p, uint64_t delta);

/* It blocks: the rest of the budget is lost. */
void pibs_block(struct pibs *p);

void pibs_shift(struct pibs *p, int64_t by);

#endif
