/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which of two cells runs a component that both declare (`takeover=`). Each cell has a word that it
 * alone writes and the other reads: its role, with an epoch. A cell claims with an epoch above all
 * that it has seen, looks at the other's word again, and only then has the component. So both
 * have it at the same time only if one of them has not looked for longer than the time of the pair;
 * its next look ends that, since the other's epoch is higher. Pure.
 */
#ifndef QUEST_RECOVERY_PAIR_H
#define QUEST_RECOVERY_PAIR_H

#include <stdbool.h>
#include <stdint.h>

enum pair_role {
	PAIR_NONE,			/* it has not started */
	PAIR_WAITS,			/* can take the component */
	PAIR_CLAIMS,			/* is about to take it */
	PAIR_HAS,			/* runs it, or recovers it */
	PAIR_OFFERS,			/* has ended it, and asks the other cell to take it */
	PAIR_LOST,			/* the same, and cannot take it back: it has given up */
};

#define PAIR_EPOCH_MAX	((1ull << 48) - 1)

struct pair_word {
	enum pair_role role;
	uint64_t epoch;			/* at most PAIR_EPOCH_MAX; then comes 0 */
};

/* The other cell, as this one sees it */
struct pair_other {
	struct pair_word word;		/* as it was last, if it does not run */
	bool runs;			/* its end of the channel does */
	bool ended;			/* its end is stopped or has failed */
	bool fresh;			/* it has looked or saved within the time of the pair */
};

struct pair {
	struct pair_word own;
	bool first;			/* it starts the component at the first boot */
	bool seen;			/* the other cell has had the component */
};

enum pair_act {
	PAIR_STAY,			/* publish the word */
	PAIR_START,			/* publish the word, then start the component */
	PAIR_STOP,			/* end the component, then publish the word */
};

/* Decides by a look at the other cell, and changes this cell's word. Returns what to do. */
enum pair_act pair_step(struct pair *p, const struct pair_other *o);

/* Returns whether the other cell has taken the component from `own`, or is about to. */
bool pair_is_over(const struct pair_word *own, const struct pair_other *o);

/* The word as memory has it. Each value is a word. */
uint64_t pair_pack(const struct pair_word *w);
struct pair_word pair_unpack(uint64_t value);

#endif
