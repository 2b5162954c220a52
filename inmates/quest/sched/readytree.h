/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The runnable VCPUs in order of priority, each with the time from which on it may run. A balanced
 * (AA) tree in which every node knows the earliest time below it: all operations cost O(log n),
 * even when all budgets are replenished at the same time. Recursion is at most 2 *
 * log2(READYTREE_MAX) deep.
 */
#ifndef QUEST_READYTREE_H
#define QUEST_READYTREE_H

#include <stdint.h>

#define READYTREE_MAX	256
#define READYTREE_NONE	(-1)

struct readytree_node {
	uint64_t key;			/* the smallest goes first; unique */
	uint64_t at;			/* it may run from then on */
	uint64_t least;			/* the smallest `at` in this subtree */
	uint16_t left, right, level;	/* of nodes; 0: none */
};

struct readytree {
	uint16_t root;
	struct readytree_node nodes[READYTREE_MAX + 1];	/* member i is node i + 1 */
};

void readytree_init(struct readytree *t);

/*
 * Members are numbers below READYTREE_MAX. The member to insert must not be in the tree; to remove
 * or set, it must.
 */
void readytree_insert(struct readytree *t, int member, uint64_t key, uint64_t at);
void readytree_remove(struct readytree *t, int member);
void readytree_set(struct readytree *t, int member, uint64_t at);

/* Returns the first member that may run at `now`, or READYTREE_NONE. */
int readytree_first(const struct readytree *t, uint64_t now);

/* Returns the earliest time of the members before `key`; UINT64_MAX if there are none. */
uint64_t readytree_before(const struct readytree *t, uint64_t key);

#endif
