/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The server behind an I/O VCPU: priority inheritance, bandwidth preserving
 * (Danish, Li and West, RTAS 2011). It has a share U = budget / period of the
 * CPU; its priority is that of whom it works for, whose period T it inherits.
 * It may then use U * T, and after using c that began at t is eligible again
 * at t + c / U. Plain data. Times are TSC cycles.
 */
#ifndef QUEST_PIBS_H
#define QUEST_PIBS_H

#include <stdbool.h>
#include <stdint.h>

struct pibs {
	uint64_t budget, period;	/* U as a fraction; `period` also serves when nobody's is inherited */
	uint64_t inherited;		/* T now */
	uint64_t eligible;		/* t_e; while left > 0: when this budget was first used */
	uint64_t left;			/* of the budget in hand; 0: none in hand */
	uint64_t used;			/* of it */
};

/* 0 < budget < period. Usable from `at` on. */
void pibs_init(struct pibs *p, uint64_t budget, uint64_t period, uint64_t at);

/* Work for one with period `period` (0: nobody known). `active`: it had other work already. */
void pibs_wake(struct pibs *p, uint64_t period, bool active, uint64_t now);

/* It is given the CPU at its priority: a budget begins, if none is in hand. */
void pibs_dispatch(struct pibs *p, uint64_t now);

/* From when on it may run; cycles it may run then. */
uint64_t pibs_eligible(const struct pibs *p);
uint64_t pibs_left(const struct pibs *p);

/* It ran for `delta` cycles. Returns by how many it overran; its next budget comes later for it. */
uint64_t pibs_charge(struct pibs *p, uint64_t delta);

/* No more work: what is left of the budget is void. */
void pibs_block(struct pibs *p);

void pibs_shift(struct pibs *p, int64_t by);

#endif
