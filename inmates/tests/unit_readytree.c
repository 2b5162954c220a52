// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include "../quest/sched/readytree.h"
#include "unit.h"

#define TIMES	50

static struct readytree t;
static struct { bool in; uint64_t key, at; } plain[READYTREE_MAX];
static unsigned int deepest, members;

static int first(uint64_t now)
{
	int i, best = READYTREE_NONE;

	for (i = 0; i < READYTREE_MAX; i++)
		if (plain[i].in && plain[i].at <= now &&
		    (best < 0 || plain[i].key < plain[best].key))
			best = i;
	return best;
}

static uint64_t before(uint64_t key)
{
	uint64_t least = UINT64_MAX;
	int i;

	for (i = 0; i < READYTREE_MAX; i++)
		if (plain[i].in && plain[i].key < key && plain[i].at < least)
			least = plain[i].at;
	return least;
}

/* The shape of an AA tree bounds its depth by 2 * log2(n + 1). */
static void check_shape(unsigned int n, unsigned int depth)
{
	const struct readytree_node *node = &t.nodes[n], *right = &t.nodes[node->right];

	if (!n)
		return;
	members++;
	if (depth > deepest)
		deepest = depth;
	CHECK(node->level == t.nodes[node->left].level + 1u);
	CHECK(right->level == node->level || right->level + 1u == node->level);
	CHECK(!right->right || t.nodes[right->right].level < node->level);
	check_shape(node->left, depth + 1);
	check_shape(node->right, depth + 1);
}

static void check_all(unsigned int count)
{
	unsigned int bits = 0;
	uint64_t now;

	deepest = members = 0;
	check_shape(t.root, 1);
	while (count + 1 > 1u << bits)
		bits++;
	CHECK(members == count && deepest <= 2 * bits);
	for (now = 0; now <= TIMES; now += 7) {
		CHECK(readytree_first(&t, now) == first(now));
		CHECK(readytree_before(&t, now * 20) == before(now * 20));
	}
	CHECK(readytree_before(&t, UINT64_MAX) == before(UINT64_MAX));
}

static unsigned int change(int i, unsigned int count)
{
	if (!plain[i].in) {
		plain[i].in = true;
		plain[i].key = rand() % 1000 * READYTREE_MAX + i;
		plain[i].at = rand() % TIMES;
		readytree_insert(&t, i, plain[i].key, plain[i].at);
		return count + 1;
	}
	if (rand() % 2) {
		plain[i].at = rand() % TIMES;
		readytree_set(&t, i, plain[i].at);
		return count;
	}
	plain[i].in = false;
	readytree_remove(&t, i);
	return count - 1;
}

/* Compares the tree with an array that is searched, with few members and with many. */
TEST(readytree_random)
{
	unsigned int count = 0, i, most;

	srand(7);
	for (most = 1; most <= READYTREE_MAX; most *= 4) {
		readytree_init(&t);
		memset(plain, 0, sizeof(plain));
		for (count = i = 0; i < 3000; i++) {
			count = change(rand() % most, count);
			check_all(count);
		}
	}
}

/* Inserts in ascending and descending order of keys, which would make an unbalanced tree a list. */
TEST(readytree_sorted)
{
	int i, way;

	for (way = 0; way < 2; way++) {
		readytree_init(&t);
		memset(plain, 0, sizeof(plain));
		for (i = 0; i < READYTREE_MAX; i++) {
			plain[i].in = true;
			plain[i].key = way ? 1000 - i : i;
			plain[i].at = i % TIMES;
			readytree_insert(&t, i, plain[i].key, plain[i].at);
		}
		check_all(READYTREE_MAX);
		for (i = 0; i < READYTREE_MAX; i++) {
			plain[i].in = false;
			readytree_remove(&t, i);
			check_all(READYTREE_MAX - 1 - i);
		}
		CHECK(!t.root);
	}
}
