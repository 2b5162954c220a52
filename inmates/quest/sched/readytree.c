// SPDX-License-Identifier: GPL-2.0-only
#include "readytree.h"

/*
 * An AA tree (Andersson 1993): a left child is one level below its parent. A right child is at the
 * same level or one level below. The right child of a right child is always at a lower level than
 * the node. Node 0 means "none": its level is 0 and its time never comes. Node 0 is not written
 * after the start.
 */

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void update(struct readytree *t, unsigned int n)
{
	struct readytree_node *node = &t->nodes[n];

	node->least = min(node->at, min(t->nodes[node->left].least, t->nodes[node->right].least));
}

/* A left child of the same level: rotate right. */
static unsigned int skew(struct readytree *t, unsigned int n)
{
	struct readytree_node *node = &t->nodes[n];
	unsigned int top = node->left;

	if (!top || t->nodes[top].level != node->level)
		return n;
	node->left = t->nodes[top].right;
	t->nodes[top].right = n;
	update(t, n);
	update(t, top);
	return top;
}

/* If two right children in a row are at the same level: rotates left, one level up. */
static unsigned int split(struct readytree *t, unsigned int n)
{
	struct readytree_node *node = &t->nodes[n];
	unsigned int top = node->right;

	if (!top || !t->nodes[top].right || t->nodes[t->nodes[top].right].level != node->level)
		return n;
	node->right = t->nodes[top].left;
	t->nodes[top].left = n;
	t->nodes[top].level++;
	update(t, n);
	update(t, top);
	return top;
}

static unsigned int insert(struct readytree *t, unsigned int n, unsigned int new)
{
	struct readytree_node *node = &t->nodes[n];

	if (!n)
		return new;
	if (t->nodes[new].key < node->key)
		node->left = insert(t, node->left, new);
	else
		node->right = insert(t, node->right, new);
	update(t, n);
	return split(t, skew(t, n));
}

/* Repairs the tree at `n` after a removal below it: lowers levels, then rotates. */
static unsigned int repair(struct readytree *t, unsigned int n)
{
	struct readytree_node *node = &t->nodes[n];
	unsigned int left = t->nodes[node->left].level, right = t->nodes[node->right].level;
	unsigned int level = (left < right ? left : right) + 1;

	update(t, n);
	if (level < node->level) {
		node->level = level;
		if (level < right)
			t->nodes[node->right].level = level;
	}
	n = skew(t, n);
	node = &t->nodes[n];
	if (node->right) {
		node->right = skew(t, node->right);
		node = &t->nodes[node->right];
		if (node->right)
			node->right = skew(t, node->right);
	}
	n = split(t, n);
	if (t->nodes[n].right)
		t->nodes[n].right = split(t, t->nodes[n].right);
	update(t, n);
	return n;
}

static unsigned int remove(struct readytree *t, unsigned int n, uint64_t key);

/* Moves the next node in order, which is in the right subtree, to the place of `n`. */
static unsigned int replace(struct readytree *t, unsigned int n)
{
	struct readytree_node *node = &t->nodes[n];
	unsigned int next = node->right, right;

	while (t->nodes[next].left)
		next = t->nodes[next].left;
	right = remove(t, node->right, t->nodes[next].key);
	t->nodes[next].left = node->left;
	t->nodes[next].right = right;
	t->nodes[next].level = node->level;
	return next;
}

static unsigned int remove(struct readytree *t, unsigned int n, uint64_t key)
{
	struct readytree_node *node = &t->nodes[n];

	if (key < node->key)
		node->left = remove(t, node->left, key);
	else if (key > node->key)
		node->right = remove(t, node->right, key);
	else if (!node->right)
		return node->left;	/* a node at the lowest level has no left child either */
	else
		n = replace(t, n);
	return repair(t, n);
}

static void set(struct readytree *t, unsigned int n, uint64_t key, uint64_t at)
{
	struct readytree_node *node = &t->nodes[n];

	if (key < node->key)
		set(t, node->left, key, at);
	else if (key > node->key)
		set(t, node->right, key, at);
	else
		node->at = at;
	update(t, n);
}

void readytree_init(struct readytree *t)
{
	t->root = 0;
	t->nodes[0] = (struct readytree_node){ .at = UINT64_MAX, .least = UINT64_MAX };
}

void readytree_insert(struct readytree *t, int member, uint64_t key, uint64_t at)
{
	t->nodes[member + 1] = (struct readytree_node){
		.key = key, .at = at, .least = at, .level = 1 };
	t->root = insert(t, t->root, member + 1);
}

void readytree_remove(struct readytree *t, int member)
{
	t->root = remove(t, t->root, t->nodes[member + 1].key);
}

void readytree_set(struct readytree *t, int member, uint64_t at)
{
	if (t->nodes[member + 1].at != at)
		set(t, t->root, t->nodes[member + 1].key, at);
}

uint64_t readytree_key(const struct readytree *t, int member)
{
	return t->nodes[member + 1].key;
}

int readytree_first(const struct readytree *t, uint64_t now)
{
	const struct readytree_node *node;
	unsigned int n = t->root;

	while (n) {
		node = &t->nodes[n];
		if (t->nodes[node->left].least <= now)
			n = node->left;
		else if (node->at <= now)
			break;
		else if (t->nodes[node->right].least <= now)
			n = node->right;
		else
			n = 0;
	}
	return n ? (int)n - 1 : READYTREE_NONE;
}

uint64_t readytree_before(const struct readytree *t, uint64_t key)
{
	const struct readytree_node *node;
	uint64_t least = UINT64_MAX;
	unsigned int n = t->root;

	while (n) {
		node = &t->nodes[n];
		if (node->key < key) {
			least = min(least, min(node->at, t->nodes[node->left].least));
			n = node->right;
		} else {
			n = node->left;
		}
	}
	return least;
}
