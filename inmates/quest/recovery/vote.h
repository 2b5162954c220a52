/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Votes of a program that runs in three cells. Each cell has memory that it alone writes. There
 * it publishes a hash of the program's state under a number that the program has counted, so that
 * the same number is the same point of the program in all cells. A state on which two cells agree
 * is right: one cell alone cannot change that, whatever it writes. Pure.
 */
#ifndef QUEST_RECOVERY_VOTE_H
#define QUEST_RECOVERY_VOTE_H

#include <stdbool.h>
#include "digest.h"

#define VOTE_CELLS	3
#define VOTE_OTHERS	(VOTE_CELLS - 1)
#define VOTE_RING	48		/* so many of its last votes a cell remembers */
#define VOTE_STATES	4		/* and so many of its last states */
#define VOTE_PAGES	16		/* largest number of pages of a state */
#define VOTE_MAX	(1ull << 62)	/* largest number of a vote; the first one is at least 1 */

/*
 * The memory of a cell. Each word is stored once. Vote k is in ring[k % VOTE_RING], and its state
 * in buffer k % VOTE_STATES. A `number` is 0 while the rest changes. Behind it, from the next page,
 * come the states themselves.
 */
struct vote_memory {
	uint64_t version;
	struct vote_state {
		uint64_t number, bytes;
		struct hash pages[VOTE_PAGES];
	} states[VOTE_STATES];
	struct vote {
		uint64_t number;
		struct hash root;
	} ring[VOTE_RING];
};

/* The cell that writes a memory may change each word at any time: loaded once, then checked. */
static inline uint64_t vote_load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void vote_store(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline bool hash_equal(const struct hash *a, const struct hash *b)
{
	return !((a->word[0] ^ b->word[0]) | (a->word[1] ^ b->word[1]) |
		 (a->word[2] ^ b->word[2]) | (a->word[3] ^ b->word[3]));
}

/* The hash of vote `number` for a state of `bytes`, from those of its pages. */
struct hash vote_root(uint64_t number, uint64_t bytes, const struct hash *pages);

/* Returns how many pages a state has. */
unsigned int vote_pages(uint64_t bytes);

/* Publishes a vote in this cell's memory, or takes all back that have a number above `last`. */
void vote_publish(struct vote_memory *own, uint64_t number, const struct hash *root);
void vote_take_back(struct vote_memory *own, uint64_t last);

/* Copies the hash of vote `number`. Returns false if the memory does not have it. */
bool vote_read(const struct vote_memory *m, uint64_t number, struct hash *root);

/* Returns the highest number of a vote in the memory; 0: it has no vote. */
uint64_t vote_newest(const struct vote_memory *m);

/*
 * Returns the highest number below `below` for which two of the `n` memories have the same hash,
 * and the hash; 0: no two agree.
 */
uint64_t vote_agreed(const struct vote_memory *const *memories, unsigned int n, uint64_t below,
		     struct hash *root);

/* Another cell, as this one sees it, for one vote of this cell */
struct vote_other {
	bool voted;
	bool gone;			/* it fails to vote now */
	bool elsewhere;			/* it runs, and waits with another number */
	struct hash root;
};

enum vote_verdict {
	VOTE_OPEN,			/* another cell may still decide */
	VOTE_AGREED,			/* two or three cells have the same hash */
	VOTE_OUTVOTED,			/* the two others agree on another hash */
	VOTE_SPLIT,			/* those that are left differ: no two will agree */
};

/* `*agree`: how many cells have the hash of this one, itself included. */
enum vote_verdict vote_judge(const struct hash *own, const struct vote_other others[VOTE_OTHERS],
			     unsigned int *agree);

#endif
