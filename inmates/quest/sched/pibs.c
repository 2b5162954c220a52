// SPDX-License-Identifier: GPL-2.0-only
#include "pibs.h"

/* Returns C_max = U * T, at least 1. */
static uint64_t capacity(const struct pibs *p)
{
	uint64_t amount = (unsigned __int128)p->inherited * p->budget / p->period;

	return amount ? amount : 1;
}

/* Ends the present budget. Sets its replenishment to t_e = t + c / U, rounded up. */
static void end_budget(struct pibs *p)
{
	p->eligible += ((unsigned __int128)p->used * p->period + p->budget - 1) / p->budget;
	p->used = 0;
	p->left = 0;
}

void pibs_init(struct pibs *p, uint64_t budget, uint64_t period, uint64_t at)
{
	*p = (struct pibs){
		.budget = budget, .period = period, .inherited = period, .eligible = at
	};
}

/*
 * Reduces the budget after a shorter period was inherited. Part of the new, smaller budget may be
 * used already.
 */
static void shrink(struct pibs *p)
{
	uint64_t most = capacity(p);

	if (p->left + p->used <= most)
		return;
	if (most > p->used)
		p->left = most - p->used;
	else
		end_budget(p);
}

void pibs_wake(struct pibs *p, uint64_t period, bool active, uint64_t now)
{
	if (!period)
		period = p->period;
	if (active && period >= p->inherited)
		return;
	p->inherited = period;
	if (p->left)
		shrink(p);
	else if (!active && p->eligible < now)
		p->eligible = now;	/* time before the wake-up earns no budget */
}

void pibs_dispatch(struct pibs *p, uint64_t now)
{
	if (p->left || p->eligible > now)
		return;
	p->eligible = now;
	p->left = capacity(p);
}

uint64_t pibs_eligible(const struct pibs *p)
{
	return p->eligible;
}

uint64_t pibs_left(const struct pibs *p)
{
	return p->left ? p->left : capacity(p);
}

uint64_t pibs_charge(struct pibs *p, uint64_t delta)
{
	uint64_t overrun = delta > p->left ? delta - p->left : 0;

	p->used += delta;
	if (delta < p->left)
		p->left -= delta;
	else
		end_budget(p);
	return overrun;
}

void pibs_block(struct pibs *p)
{
	if (p->left)
		end_budget(p);
}

void pibs_shift(struct pibs *p, int64_t by)
{
	p->eligible += by;
}
