// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which of two cells runs a component: all runs of two cells are searched. A look is two steps, so
 * that the other cell may do anything between them: it reads the other's word, and then changes its
 * own. Cells fail and start again between any two steps, with a cleared word or, on standby, with
 * the old one. They end the component by a fault, and pause for longer than the time of the pair.
 */
#include <stdlib.h>
#include <string.h>
#include "../quest/recovery/pair.h"
#include "unit.h"

#define CELLS		2
#define SLOTS		(1u << 22)

struct side {
	struct pair pair;
	struct pair_other view;		/* the other side, as it was read last */
	bool alive, has_view, runs;
	enum pair_role before;		/* of its last life, which its memory has until it looks */
	/* 2: the other side took it for paused; 1: it has read since then; 0: it has looked */
	unsigned int paused;
};

struct world {
	struct side cell[CELLS];
};

/* Packs all that differs, so that equal worlds have equal keys. */
static uint64_t key_of(const struct world *w)
{
	uint64_t key = 0;
	int i;

	for (i = 0; i < CELLS; i++) {
		const struct side *s = &w->cell[i];

		key = key << 3 | s->pair.own.role;
		key = key << 4 | s->pair.own.epoch;
		key = key << 2 | (uint64_t)s->pair.seen << 1 | s->runs;
		key = key << 2 | (uint64_t)s->alive << 1 | s->has_view;
		key = key << 5 | (uint64_t)s->before << 2 | s->paused;
		key = key << 3 | (s->has_view ? s->view.word.role : 0);
		key = key << 4 | (s->has_view ? s->view.word.epoch : 0);
		key = key << 3 | (s->has_view ? (uint64_t)s->view.runs << 2 |
				  (uint64_t)s->view.ended << 1 | s->view.fresh : 0);
	}
	return key + 1;			/* 0 is a free slot */
}

static uint64_t *seen;
static struct world *queue;
static unsigned int head, tail, doubles;
static struct search {
	bool pauses, standby;		/* cells pause; cells on standby begin again */
	unsigned int epochs;		/* larger ones are not followed */
} now;

static void add(const struct world *w)
{
	uint64_t key = key_of(w), at = key * 0x9E3779B97F4A7C15ull >> 42;

	if (w->cell[0].pair.own.epoch > now.epochs || w->cell[1].pair.own.epoch > now.epochs)
		return;
	for (; seen[at]; at = (at + 1) % SLOTS)
		if (seen[at] == key)
			return;
	seen[at] = key;
	CHECK(tail < SLOTS / 2);
	queue[tail++] = *w;
}

static void boot(struct side *s, bool first)
{
	memset(s, 0, sizeof(*s));
	s->alive = true;
	s->pair.first = first;
	s->pair.own.role = PAIR_WAITS;
}

/* The role that is in its memory. */
static enum pair_role role_of(const struct side *s)
{
	return s->before ? s->before : s->pair.own.role;
}

/* As takeover_init() with the memory of the last life. */
static void begin_again(struct side *s, bool first)
{
	enum pair_role before = role_of(s);
	uint64_t epoch = s->pair.own.epoch;

	boot(s, first);
	s->pair.own.epoch = epoch;
	s->pair.seen = before >= PAIR_CLAIMS;
	s->before = before;
}

static void read_other(struct world *w, int i, bool fresh)
{
	struct side *s = &w->cell[i], *other = &w->cell[!i];

	s->has_view = true;
	s->view = (struct pair_other){
		.word = { .role = role_of(other), .epoch = other->pair.own.epoch },
		.runs = other->alive, .ended = !other->alive, .fresh = fresh,
	};
	if (!fresh && other->alive)
		other->paused = 2;
	if (s->paused == 2)
		s->paused = 1;
}

/* The order is that of takeover.c: the program has ended before the word changes. */
static void act(struct world *w, int i)
{
	struct side *s = &w->cell[i];

	switch (pair_step(&s->pair, &s->view)) {
	case PAIR_START:
		CHECK(!s->runs);
		s->runs = true;
		break;
	case PAIR_STOP:
		CHECK(s->runs);
		s->runs = false;
		break;
	default:
		break;
	}
	s->has_view = false;
	s->before = PAIR_NONE;
	if (s->paused == 1)
		s->paused = 0;
	memset(&s->view, 0, sizeof(s->view));
	CHECK_EQ(s->runs, s->pair.own.role == PAIR_HAS);
}

static void look(struct world *w, int i)
{
	read_other(w, i, true);
	act(w, i);
}

/* Without more faults one cell alone has the component soon, or all have given up. */
static void check_progress(struct world w)
{
	int i, running;

	for (i = 0; i < 12; i++) {
		if (w.cell[0].alive)
			look(&w, 0);
		if (w.cell[1].alive)
			look(&w, 1);
	}
	running = w.cell[0].runs + w.cell[1].runs;
	CHECK(running <= 1);
	/* the second cell alone may wait for the first one, which has never been there */
	for (i = 0; i < CELLS; i++)
		if (w.cell[0].alive && w.cell[i].alive && w.cell[i].pair.own.role != PAIR_LOST)
			CHECK_EQ(running, 1);
}

static void check_world(const struct world *w)
{
	const struct side *a = &w->cell[0], *b = &w->cell[1];

	if (a->runs && b->runs) {
		doubles++;
		CHECK(a->paused || b->paused);
	}
	check_progress(*w);
}

static void follow(const struct world *w, int i)
{
	const struct side *s = &w->cell[i];
	struct world next;

	next = *w;
	if (!s->alive) {
		boot(&next.cell[i], !i);
		add(&next);
		next = *w;
		begin_again(&next.cell[i], !i);
		if (now.standby)
			add(&next);
		return;
	}
	if (s->has_view) {
		act(&next, i);
		add(&next);
	} else {
		read_other(&next, i, true);
		add(&next);
		next = *w;
		if (now.pauses) {
			read_other(&next, i, false);
			add(&next);
			next = *w;
		}
	}
	next.cell[i].alive = next.cell[i].runs = next.cell[i].has_view = false;
	next.cell[i].paused = 0;
	memset(&next.cell[i].view, 0, sizeof(next.cell[i].view));
	add(&next);
	if (!s->runs || s->has_view)
		return;
	next = *w;
	next.cell[i].runs = false;
	next.cell[i].pair.own.role = PAIR_OFFERS;
	add(&next);
	next.cell[i].pair.own.role = PAIR_LOST;
	add(&next);
}

static void search(struct search wanted)
{
	struct world w;

	now = wanted;
	seen = calloc(SLOTS, sizeof(*seen));
	queue = malloc(SLOTS / 2 * sizeof(*queue));
	CHECK(seen && queue);
	head = tail = doubles = 0;
	memset(&w, 0, sizeof(w));
	add(&w);
	while (head < tail) {
		w = queue[head++];
		check_world(&w);
		follow(&w, 0);
		follow(&w, 1);
	}
	free(seen);
	free(queue);
}

TEST(pair_never_both_without_pauses)
{
	search((struct search){ .standby = true, .epochs = 6 });
	CHECK(tail > 1000);
	CHECK_EQ(doubles, 0);
}

TEST(pair_both_only_while_a_cell_has_not_looked)
{
	search((struct search){ .pauses = true, .epochs = 6 });
	CHECK(tail > 10000 && doubles);
	search((struct search){ .pauses = true, .standby = true, .epochs = 3 });
	CHECK(tail > 10000 && doubles);
}

TEST(pair_word_takes_any_value)
{
	struct pair_word w;
	unsigned int i;

	for (i = 0; i < 10000; i++) {
		w = pair_unpack((uint64_t)rnd_below(1u << 31) << 33 ^ rnd_below(1u << 31));
		CHECK(w.role <= PAIR_LOST && w.epoch <= PAIR_EPOCH_MAX);
		CHECK(!memcmp(&w, &(struct pair_word){ w.role, w.epoch }, sizeof(w)));
		CHECK_EQ(pair_unpack(pair_pack(&w)).epoch, w.epoch);
		CHECK_EQ(pair_unpack(pair_pack(&w)).role, w.role);
	}
}

/* A cell with the word `value` fails, and is back as the first one: it does without the other. */
static void check_taken_over(uint64_t value)
{
	struct side a, b;
	struct world w;

	memset(&w, 0, sizeof(w));
	boot(&a, true);
	boot(&b, false);
	w.cell[0] = a;
	w.cell[1] = b;
	w.cell[0].pair.own = pair_unpack(value);
	w.cell[1].pair.seen = true;
	w.cell[0].alive = false;
	look(&w, 1);
	look(&w, 1);
	CHECK(w.cell[1].runs);
	w.cell[0] = a;
	look(&w, 0);
	CHECK(!w.cell[0].runs);
	/* now the second cell hangs */
	read_other(&w, 0, false);
	act(&w, 0);
	read_other(&w, 0, false);
	act(&w, 0);
	CHECK(w.cell[0].runs);
	look(&w, 1);
	CHECK(!w.cell[1].runs);
}

TEST(pair_no_word_ends_take_overs)
{
	static const uint64_t epochs[] = { 0, 1, PAIR_EPOCH_MAX / 2, PAIR_EPOCH_MAX / 2 + 1,
					   PAIR_EPOCH_MAX - 1, PAIR_EPOCH_MAX };
	struct pair_word word = { .role = PAIR_HAS };
	unsigned int i;

	check_taken_over(UINT64_MAX);
	for (i = 0; i < sizeof(epochs) / sizeof(epochs[0]); i++) {
		word.epoch = epochs[i];
		check_taken_over(pair_pack(&word));
	}
}
