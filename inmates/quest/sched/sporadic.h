/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sporadic server behind a Main VCPU, with the corrections of Stanovich, Baker, Wang and
 * Gonzalez Harbour (RTAS 2010): budget C per period T, replenished in chunks, each one period after
 * it was first usable. Plain data without clock or pointers: it can be copied to another machine
 * and shifted to its clock. Times are TSC cycles. Documentation/explanation/quest-scheduling.md has
 * the rules.
 */
#ifndef QUEST_SPORADIC_H
#define QUEST_SPORADIC_H

#include <stdint.h>

/* MAX_REPL of the paper: largest number of chunks in the queue */
#define SPORADIC_MAX	32

/* A chunk of the budget. */
struct replenishment {
	uint64_t at;			/* the chunk is usable from this time on */
	uint64_t amount;		/* cycles, never 0 */
};

/*
 * These conditions always hold: 1 <= length <= limit; `at` does not decrease along the queue, and
 * its last value is at most one period after its first; the amounts add up to `budget`; usage <
 * queue[0].amount.
 */
struct sporadic {
	uint64_t budget;		/* C */
	uint64_t period;		/* T */
	uint64_t usage;			/* CPU time used of queue[0] so far */
	uint32_t length;
	uint32_t limit;			/* 2..SPORADIC_MAX */
	/* the last entry is used only during sporadic_block() */
	struct replenishment queue[SPORADIC_MAX + 1];
};

/* Initialises a server whose whole budget is usable from `at` on. 0 < budget <= period. */
void sporadic_init(struct sporadic *s, uint64_t budget, uint64_t period, uint64_t at);

/* Changes the parameters: the whole budget is usable from `at` on. Past use does not count. */
void sporadic_set(struct sporadic *s, uint64_t budget, uint64_t period, uint64_t at);

/* Return when the first chunk is usable, and how many cycles of that chunk are left. */
uint64_t sporadic_eligible(const struct sporadic *s);
uint64_t sporadic_left(const struct sporadic *s);

/*
 * The paper's budget_check: the server ran at its priority for `delta` > 0 cycles up to `now`.
 * Returns the cycles of overrun. They are taken from the next chunk, which is postponed by the same
 * time. A long overrun may be charged in several calls.
 */
uint64_t sporadic_charge(struct sporadic *s, uint64_t delta, uint64_t now);

/*
 * The paper's split_check, when the server blocks, and unblock_check, when it becomes runnable.
 * Call sporadic_charge() first.
 */
void sporadic_block(struct sporadic *s, uint64_t now);
void sporadic_unblock(struct sporadic *s, uint64_t now);

/* Return when all used CPU time will be replenished, and how much is not replenished at `now`. */
uint64_t sporadic_settled(const struct sporadic *s);
uint64_t sporadic_outstanding(const struct sporadic *s, uint64_t now);

/* Adds `by` to all times of the server, for a clock that is ahead by `by`. */
void sporadic_shift(struct sporadic *s, int64_t by);

#endif
