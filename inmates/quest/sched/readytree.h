/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The runnable VCPUs in order of priority, each with the time from which on it may run. They form a
 * balanced (AA) tree in which every node stores the earliest time of its subtree. So all operations
 * cost O(log n), even when all budgets are replenished at the same time. The depth of recursion is
 * at most 2 * log2(READYTREE_MAX).
 */
#ifndef QUEST_READYTREE_H
#define QUEST_READYTREE_H

#include <stdint.h>

#define READYTREE_MAX	256
#define READYTREE_NONE	(-1)

struct readytree_node {
	/* priority: the smallest key comes first; keys are unique */
	uint64_t key;
	uint64_t at;			/* time from which on the member may run */
	uint64_t least;			/* the smallest `at` in this subtree */
	uint16_t left, right, level;	/* numbers of the child nodes, 0: none; level in the tree */
};

struct readytree {
	uint16_t root;
	struct readytree_node nodes[READYTREE_MAX + 1];	/* number of the node of member i: i + 1 */
};

void readytree_init(struct readytree *t);

/*
 * Members are numbers below READYTREE_MAX. readytree_insert() needs a member that is not in the
 * tree. readytree_remove() and readytree_set() need a member that is.
 */
void readytree_insert(struct readytree *t, int member, uint64_t key, uint64_t at);
void readytree_remove(struct readytree *t, int member);
void readytree_set(struct readytree *t, int member, uint64_t at);

/* Returns the key of a member that is in the tree. */
uint64_t readytree_key(const struct readytree *t, int member);

/* Returns the first member that may run at `now`, or READYTREE_NONE. */
int readytree_first(const struct readytree *t, uint64_t now);

/*
 * Returns the earliest time of the members whose keys are smaller than `key`; UINT64_MAX if there
 * are no such members.
 */
uint64_t readytree_before(const struct readytree *t, uint64_t key);

#endif
