// SPDX-License-Identifier: GPL-2.0-only
#include "vote.h"

#define PAGE_BYTES	4096

unsigned int vote_pages(uint64_t bytes)
{
	return (unsigned int)((bytes + PAGE_BYTES - 1) / PAGE_BYTES);
}

struct hash vote_root(uint64_t number, uint64_t bytes, const struct hash *pages)
{
	const uint64_t head[] = { number, bytes };
	struct digest d;

	digest_begin(&d);
	digest_add(&d, head, sizeof(head));
	digest_add(&d, pages, vote_pages(bytes) * sizeof(*pages));
	return digest_end(&d);
}

void vote_publish(struct vote_memory *own, uint64_t number, const struct hash *root)
{
	struct vote *v = &own->ring[number % VOTE_RING];
	unsigned int i;

	vote_store(&v->number, 0);
	for (i = 0; i < DIGEST_WORDS; i++)
		vote_store(&v->root.word[i], root->word[i]);
	vote_store(&v->number, number);
}

void vote_take_back(struct vote_memory *own, uint64_t last)
{
	unsigned int i;

	for (i = 0; i < VOTE_RING; i++)
		if (own->ring[i].number > last)
			vote_store(&own->ring[i].number, 0);
	for (i = 0; i < VOTE_STATES; i++)
		if (own->states[i].number > last)
			vote_store(&own->states[i].number, 0);
}

bool vote_read(const struct vote_memory *m, uint64_t number, struct hash *root)
{
	const struct vote *v = &m->ring[number % VOTE_RING];
	unsigned int i;

	if (!number || number > VOTE_MAX || vote_load(&v->number) != number)
		return false;
	for (i = 0; i < DIGEST_WORDS; i++)
		root->word[i] = vote_load(&v->root.word[i]);
	return vote_load(&v->number) == number;
}

uint64_t vote_newest(const struct vote_memory *m)
{
	uint64_t newest = 0, number;
	unsigned int i;

	for (i = 0; i < VOTE_RING; i++) {
		number = vote_load(&m->ring[i].number);
		if (number > newest && number <= VOTE_MAX && number % VOTE_RING == i)
			newest = number;
	}
	return newest;
}

/* Whether two memories have the same hash for the vote that `a` has in its place `i`. */
static uint64_t agreed_at(const struct vote_memory *a, const struct vote_memory *b, unsigned int i,
			  struct hash *root)
{
	uint64_t number = vote_load(&a->ring[i].number);
	struct hash other;

	return number % VOTE_RING == i && vote_read(a, number, root) &&
	       vote_read(b, number, &other) && hash_equal(root, &other) ? number : 0;
}

uint64_t vote_agreed(const struct vote_memory *const *memories, unsigned int n, uint64_t below,
		     struct hash *root)
{
	uint64_t best = 0, number;
	unsigned int a, b, i;
	struct hash found;

	for (a = 0; a < n; a++) {
		for (b = a + 1; b < n; b++) {
			for (i = 0; i < VOTE_RING; i++) {
				number = agreed_at(memories[a], memories[b], i, &found);
				if (number <= best || number >= below)
					continue;
				best = number;
				*root = found;
			}
		}
	}
	return best;
}

/* Whether another cell has made a vote that this one will never make. */
static bool is_against(const struct vote_other *o)
{
	return o->voted || o->elsewhere;
}

enum vote_verdict vote_judge(const struct hash *own, const struct vote_other others[VOTE_OTHERS],
			     unsigned int *agree)
{
	const struct vote_other *a = &others[0], *b = &others[1];
	unsigned int i;

	for (i = 0, *agree = 1; i < VOTE_OTHERS; i++)
		if (others[i].voted && hash_equal(&others[i].root, own))
			(*agree)++;
	if (*agree > 1)
		return VOTE_AGREED;
	if (a->voted && b->voted)
		return hash_equal(&a->root, &b->root) ? VOTE_OUTVOTED : VOTE_SPLIT;
	if (!is_against(a) && !is_against(b))
		return VOTE_OPEN;	/* this cell is alone, or the others are slow */
	return (is_against(a) || a->gone) && (is_against(b) || b->gone) ? VOTE_SPLIT : VOTE_OPEN;
}
