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
	/* U as a fraction; T is `period` while the server has inherited no period */
	uint64_t budget, period;
	uint64_t inherited;		/* T now */
	/*
	 * While `left` is 0, this is t_e, the time from which on a budget may begin. Otherwise it
	 * is t, the time when the present budget was first used.
	 */
	uint64_t eligible;
	/* rest of the present budget; 0: the server has no budget */
	uint64_t left;
	uint64_t used;			/* cycles used of the present budget */
};

/* Initialises the server, which may run from `at` on. 0 < budget < period. */
void pibs_init(struct pibs *p, uint64_t budget, uint64_t period, uint64_t at);

/*
 * A thread of the server wakes to work for a VCPU with period `period` (0: not known). `active`:
 * another thread of the server was runnable already.
 */
void pibs_wake(struct pibs *p, uint64_t period, bool active, uint64_t now);

/* The server is dispatched in the foreground. If it has no budget, a new one begins. */
void pibs_dispatch(struct pibs *p, uint64_t now);

/* Return the time from which on the server may run, and for how many cycles. */
uint64_t pibs_eligible(const struct pibs *p);
uint64_t pibs_left(const struct pibs *p);

/* The server ran for `delta` cycles. Returns the overrun, which delays its next budget. */
uint64_t pibs_charge(struct pibs *p, uint64_t delta);

/* The server blocks: the rest of its budget is lost. */
void pibs_block(struct pibs *p);

void pibs_shift(struct pibs *p, int64_t by);

#endif
