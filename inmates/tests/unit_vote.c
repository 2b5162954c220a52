// SPDX-License-Identifier: GPL-2.0-only
/*
 * Votes of three cells: all runs are searched, a step at a time, with one cell that is at fault.
 * A look of a cell is three steps, so that the others may do anything between them: it reads the
 * vote of one cell, that of the other one, and judges. Two good cells are never outvoted, never
 * split, agree on nothing but the right state, and continue.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "../quest/recovery/vote.h"
#include "unit.h"

#define NUMBERS		3		/* votes that are followed */
#define BAD		2		/* the cell that is at fault */
#define SLOTS		(1u << 23)

enum kind { NONE, RIGHT, WRONG, OTHER, KINDS };	/* of a published hash */

struct cell {
	unsigned char ring[NUMBERS + 1];	/* kind of each vote */
	unsigned char last, open, spoilt;	/* spoilt: its state is wrong from now on */
	unsigned char read, view[2];		/* votes read so far, and their kinds */
};

struct world {
	struct cell cell[VOTE_CELLS];
};

static struct vote_memory memories[VOTE_CELLS];
static const struct vote_memory *const all[VOTE_CELLS] = {
	&memories[0], &memories[1], &memories[2],
};
static unsigned int *seen;
static struct world *queue;
static unsigned int head, tail, outvoted, restarted;

static struct hash hash_of(unsigned int number, unsigned int kind)
{
	return (struct hash){ .word = { number, 1, 2, kind } };
}

static void unpack(const struct world *w)
{
	unsigned int i, number;
	struct hash h;

	for (i = 0; i < VOTE_CELLS; i++) {
		vote_take_back(&memories[i], 0);
		for (number = 1; number <= NUMBERS; number++) {
			h = hash_of(number, w->cell[i].ring[number]);
			if (w->cell[i].ring[number])
				vote_publish(&memories[i], number, &h);
		}
	}
}

static unsigned int kind_in(unsigned int i, unsigned int number)
{
	struct hash h;

	return vote_read(&memories[i], number, &h) ? (unsigned int)h.word[3] : NONE;
}

static void add(const struct world *w)
{
	uint64_t hash = 0, at;
	unsigned int i;

	for (i = 0; i < sizeof(*w); i++)
		hash = (hash ^ ((const unsigned char *)w)[i]) * 0x100000001B3ull + 7;
	for (at = (hash ^ hash >> 29) % SLOTS; seen[at]; at = (at + 1) % SLOTS)
		if (!memcmp(&queue[seen[at] - 1], w, sizeof(*w)))
			return;
	CHECK(tail < SLOTS / 2);
	queue[tail++] = *w;
	seen[at] = tail;
}

/* A cell is started again, at what two cells agree on. */
static void restart(struct world *w, unsigned int i)
{
	struct cell *c = &w->cell[i];
	struct hash root;
	unsigned int number;

	unpack(w);
	number = (unsigned int)vote_agreed(all, VOTE_CELLS, UINT64_MAX, &root);
	if (number)
		CHECK_EQ(root.word[3], RIGHT);
	memset(c, 0, sizeof(*c));
	c->last = (unsigned char)number;
	c->ring[number] = number ? RIGHT : NONE;
	restarted++;
}

/* The next step of the protocol. Returns false after the last vote. */
static bool step(struct world *w, unsigned int i)
{
	struct cell *c = &w->cell[i];
	struct vote_other others[VOTE_OTHERS] = { { .voted = false } };
	struct hash own = hash_of(c->last, c->ring[c->last]);
	unsigned int agree, j;

	if (!c->open) {
		if (c->last == NUMBERS)
			return false;
		c->ring[++c->last] = c->spoilt ? WRONG : RIGHT;
		c->open = 1;
		return true;
	}
	if (c->read < VOTE_OTHERS) {
		unpack(w);
		c->view[c->read] = (unsigned char)kind_in((i + 1 + c->read) % VOTE_CELLS, c->last);
		c->read++;
		return true;
	}
	for (j = 0; j < VOTE_OTHERS; j++) {
		others[j].voted = c->view[j] != NONE;
		others[j].root = hash_of(c->last, c->view[j]);
		/* the cell at fault may also be dead, or late, or have made a later vote */
		others[j].gone = !others[j].voted && (i + 1 + j) % VOTE_CELLS == BAD;
		others[j].elsewhere = others[j].gone;
	}
	memset(c->view, 0, sizeof(c->view));
	c->read = 0;
	switch (vote_judge(&own, others, &agree)) {
	case VOTE_AGREED:
		CHECK(agree >= 2);
		CHECK(i == BAD || c->ring[c->last] == RIGHT);
		c->open = 0;
		break;
	case VOTE_OUTVOTED:
		CHECK_EQ(i, BAD);
		outvoted++;
		restart(w, i);
		break;
	case VOTE_SPLIT:
		CHECK_EQ(i, BAD);
		break;
	case VOTE_OPEN:
		break;
	}
	return true;
}

/* The good cells continue, whatever the other one has left, and alone. */
static void check_progress(struct world w, bool all_three)
{
	unsigned int n, i, cells = all_three ? VOTE_CELLS : BAD;

	for (n = 0; n < 8 * NUMBERS; n++)
		for (i = 0; i < cells; i++)
			(void)step(&w, i);
	for (i = 0; i < cells; i++)
		CHECK(w.cell[i].last == NUMBERS && !w.cell[i].open);
	for (i = 0; i < VOTE_CELLS && all_three; i++)
		CHECK_EQ(w.cell[i].ring[NUMBERS], RIGHT);
}

/* A state on which two cells agree is right, also if one of the good cells has lost its memory. */
static void check_agreed(const struct world *w)
{
	static const struct vote_memory empty;
	const struct vote_memory *mine[VOTE_CELLS];
	struct hash root;
	unsigned int i;

	unpack(w);
	for (i = 0; i < VOTE_CELLS; i++) {
		memcpy(mine, all, sizeof(mine));
		if (i < BAD)
			mine[i] = &empty;
		if (vote_agreed(mine, VOTE_CELLS, UINT64_MAX, &root))
			CHECK_EQ(root.word[3], RIGHT);
	}
}

static void follow(const struct world *w, bool hostile)
{
	struct world next;
	unsigned int i, number;

	for (i = 0; i < (hostile ? BAD : VOTE_CELLS); i++) {
		next = *w;
		if (step(&next, i))
			add(&next);
	}
	for (number = 1; hostile && number <= NUMBERS; number++) {
		for (i = 0; i < KINDS; i++) {
			next = *w;
			next.cell[BAD].ring[number] = (unsigned char)i;
			add(&next);
		}
	}
	next = *w;
	if (!hostile && !next.cell[BAD].spoilt) {
		next.cell[BAD].spoilt = 1;
		add(&next);
	}
	next = *w;
	if (!hostile) {
		restart(&next, BAD);		/* it has crashed */
		add(&next);
	}
}

static void search(bool hostile)
{
	struct world w;

	seen = calloc(SLOTS, sizeof(*seen));
	queue = malloc(SLOTS / 2 * sizeof(*queue));
	CHECK(seen && queue);
	head = tail = outvoted = restarted = 0;
	memset(memories, 0, sizeof(memories));
	memset(&w, 0, sizeof(w));
	add(&w);
	while (head < tail) {
		w = queue[head++];
		check_agreed(&w);
		check_progress(w, false);
		if (!hostile)
			check_progress(w, true);
		follow(&w, hostile);
	}
	printf("# %u worlds, outvoted %u times\n", tail, outvoted);
	free(seen);
	free(queue);
}

TEST(vote_one_cell_that_writes_anything_changes_nothing)
{
	search(true);
	CHECK(tail > 10000);
}

TEST(vote_one_cell_whose_state_is_spoilt_comes_back)
{
	search(false);
	CHECK(tail > 10000 && outvoted && restarted);
}

/* The first and the last word, from hashlib.blake2b(..., digest_size=32) of Python. */
TEST(vote_hash_is_blake2b)
{
	static const struct { size_t bytes; uint64_t first, last; } rows[] = {
		{ 0, 0xB243E526C051570E, 0xA8E32FF1CD45ABFA },
		{ 3, 0x0770C83A68F316B3, 0x94372CC960358BE9 },
		{ 128, 0xA2F8D9982A6D6914, 0x377CAEC885E84ECC },
		{ 129, 0x9B03B16052213439, 0x4CC121F88CD9B43E },
		{ 4096, 0xDAC757515A4BC2BE, 0x2A7A21376143680F },
		{ 5000, 0xA466805C0A117AEC, 0x28DA4902E5825BEA },
	};
	static const size_t sizes[] = { 1, 100, 128, 1024, 5000 };
	static unsigned char data[5000];
	unsigned int i, k;
	size_t at, part;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			struct digest d;
			struct hash h;

			unit_case("%zu bytes by %zu", rows[i].bytes, sizes[k]);
			digest_begin(&d);
			for (at = 0; at < rows[i].bytes; at += part) {
				part = rows[i].bytes - at;
				part = part < sizes[k] ? part : sizes[k];
				digest_add(&d, data + at, part);
			}
			h = digest_end(&d);
			CHECK(h.word[0] == rows[i].first && h.word[3] == rows[i].last);
		}
	}
}

/* A memory with any contents is read within its bounds. */
TEST(vote_memory_takes_any_contents)
{
	struct hash root;
	unsigned int i, k;
	uint64_t number;

	for (i = 0; i < 300; i++) {
		for (k = 0; k < sizeof(memories) / 8; k++)
			((uint64_t *)memories)[k] = rnd_below(3) ? rnd_below(200) : rnd();
		if (i % 2)
			memories[1] = memories[2];
		number = vote_agreed(all, VOTE_CELLS, UINT64_MAX, &root);
		CHECK(number <= VOTE_MAX && vote_newest(&memories[0]) <= VOTE_MAX);
		if (number)
			CHECK(vote_agreed(all, VOTE_CELLS, number, &root) < number);
		CHECK(i % 2 == 0 || number == vote_newest(&memories[1]));
	}
}

TEST(vote_is_forgotten_when_its_place_is_used_again)
{
	struct hash root, h = hash_of(7, RIGHT);

	memset(memories, 0, sizeof(memories));
	vote_publish(&memories[0], 7, &h);
	CHECK(vote_read(&memories[0], 7, &root) && hash_equal(&root, &h));
	vote_publish(&memories[0], 7 + VOTE_RING, &h);
	CHECK(!vote_read(&memories[0], 7, &root) && vote_newest(&memories[0]) == 7 + VOTE_RING);
	CHECK(!vote_read(&memories[0], 0, &root));
	vote_take_back(&memories[0], 7);
	CHECK_EQ(vote_newest(&memories[0]), 0);
}

static bool stops;

static void *publish_all(void *arg)
{
	struct hash h;
	uint64_t number;

	for (number = VOTE_RING; !__atomic_load_n(&stops, __ATOMIC_RELAXED); number += VOTE_RING) {
		h = (struct hash){ .word = { number, number, number, number } };
		vote_publish(arg, number, &h);
	}
	return NULL;
}

/* The other cell replaces the vote while it is read. */
TEST(vote_that_changes_while_it_is_read_is_none)
{
	unsigned int i, whole = 0;
	pthread_t thread;
	uint64_t number;
	struct hash h;

	memset(memories, 0, sizeof(memories));
	CHECK(!pthread_create(&thread, NULL, publish_all, &memories[0]));
	for (i = 0; i < 3000000 || !whole; i++) {
		number = vote_load(&memories[0].ring[0].number);
		if (!vote_read(&memories[0], number, &h))
			continue;
		whole++;
		if (h.word[0] != number || h.word[3] != number)
			break;
	}
	__atomic_store_n(&stops, true, __ATOMIC_RELAXED);
	CHECK(i >= 3000000 && whole);
	CHECK(!pthread_join(thread, NULL));
}
