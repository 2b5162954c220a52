// SPDX-License-Identifier: GPL-2.0-only
/*
 * A campaign of faults against the program of three cells. Each fault hits one cell, at a random
 * instant. No cell acts on a wrong state, the two others are neither restarted nor held up, and the
 * cell is back at the right state. The table is printed.
 */
#include <string.h>
#include "world.h"
#include "unit.h"

#define CASES		60		/* of each kind */
#define BACK		(TIME_US * US + 4 * PERIOD + 110000 * US)	/* at most, with FIRST_US */

static void flip_state(int i)
{
	flip(&cells[i].image, sizeof(cells[i].image));
}

static void flip_count(int i)
{
	flip(&cells[i].image.count, 8);
}

static void flip_kept(int i)
{
	flip(cellmemory_kept(i), 2 * ROOM);
	cells[i].crashes = true;
}

static void flip_vote(int i)
{
	flip(memory_of(i), sizeof(struct vote_memory));
}

static void crash(int i)
{
	cells[i].crashes = true;
}

static void hang(int i)
{
	cells[i].hangs_until = now + rnd_below(200) * TICK;
}

static void hang_for_good(int i)
{
	cells[i].hangs_until = UINT64_MAX;
}

/* The cell whose states it would copy first has spoilt ones. */
static void kill_cell_beside_spoilt_states(int i)
{
	unsigned char *states = cellmemory_of((i + 1) % VOTE_CELLS) + 4096;
	size_t k;

	for (k = 0; k < MEMORY - 4096; k += 1024)
		flip(states + k, 1024);
	kill_cell(i);
	cells[i].boots_at = now + 1;
}

static void write_anything(int i)
{
	uint64_t *word = (uint64_t *)memory_of(i), *end = word + MEMORY / 8;

	for (; word < end; word += 1 + rnd_below(40))
		*word = rnd();
}

/* Its votes are always other ones, also those that come. */
static void vote_wrongly(int i)
{
	struct hash root = { .word = { rnd(), 1, 2, 3 } };
	uint64_t number = cells[(i + 2) % VOTE_CELLS].image.count;
	unsigned int k;

	for (k = 0; k < VOTE_RING / 2; k++)
		vote_publish(memory_of(i), number + k, &root);
}

/* Its votes are those of cell `of`, and its states are others. */
static void repeat(int i, int of)
{
	size_t k;

	memcpy(memory_of(i), memory_of(of % VOTE_CELLS), sizeof(struct vote_memory));
	for (k = 4096; k < MEMORY; k += 1024)
		flip(cellmemory_of(i) + k, 1024);
}

static void echo(int i)
{
	repeat(i, i + 1 + (int)rnd_below(2));
}

/* The same, while another cell fails, and would copy its states first when it is back */
static void fail_beside_echo(int i)
{
	if (!hostile) {
		kill_cell(i);
		cells[i].boots_at = now + rnd_below(40) * TICK;
	}
	repeat((i + 1) % VOTE_CELLS, i + 2);
}

/* Numbers that go back, or are far ahead */
static void count_wrongly(int i)
{
	struct vote_memory *m = memory_of(i);
	unsigned int k;

	for (k = 0; k < VOTE_RING; k++)
		vote_store(&m->ring[k].number, rnd_below(2) ? rnd() : m->ring[k].number -
			   VOTE_RING * rnd_below(3));
	for (k = 0; k < VOTE_STATES; k++)
		vote_store(&m->states[k].bytes, rnd());
}

static const struct kind {
	const char *name;
	void (*fault)(int cell);
	bool lasts;			/* for 50 ms, in each tick */
	bool must_be_found;
	unsigned int victims;		/* cells that it stops, from the first one */
} kinds[] = {
	{ "bit of the state", flip_state, false, true, 1 },
	{ "bit of the number of the vote", flip_count, false, true, 1 },
	{ "bit of a kept state, and a crash", flip_kept, false, true, 1 },
	{ "bit of a vote in the channel", flip_vote, false, false, 1 },
	{ "program crashes", crash, false, true, 1 },
	{ "program hangs for 0 to 200 ms", hang, false, false, 1 },
	{ "program hangs for good", hang_for_good, false, true, 1 },
	{ "cell fails, back in 0 to 100 ms", kill_cell, false, false, 1 },
	{ "the same, with spoilt states beside", kill_cell_beside_spoilt_states, false, false, 1 },
	{ "channel overwritten once", write_anything, false, false, 1 },
	{ "channel overwritten for 50 ms", write_anything, true, false, 1 },
	{ "wrong votes for 50 ms", vote_wrongly, true, false, 1 },
	{ "echo with spoilt states, 50 ms", echo, true, false, 1 },
	{ "the same, while another cell fails", fail_beside_echo, true, false, 3 },
	{ "wrong numbers and sizes, 50 ms", count_wrongly, true, false, 1 },
};

struct table { unsigned int found, seen, recovered, lost, disturbed; uint64_t worst; };

/* How often the two others have found cell `i` outvoted or late. */
static uint64_t counted(int i)
{
	uint64_t sum = 0;
	int k;

	for (k = 1; k < VOTE_CELLS; k++) {
		const struct replica_counts *c =
			replica_counts((unsigned int)(i + k) % VOTE_CELLS);

		sum += c->outvoted[VOTE_CELLS - k] + c->late[VOTE_CELLS - k];
	}
	return sum;
}

static bool all_are_back(void)
{
	uint64_t most = 0;
	int i;

	for (i = 0; i < VOTE_CELLS; i++)
		if (cells[i].acted > most)
			most = cells[i].acted;
	for (i = 0; i < VOTE_CELLS; i++)
		if (!cells[i].alive || !cells[i].runs || cells[i].acted + 2 < most ||
		    now - cells[i].acted_at > HELD_UP)
			return false;
	return true;
}

static void one_case(const struct kind *k, struct table *t)
{
	uint64_t at, until, before;
	int i, bad = (int)rnd_below(VOTE_CELLS);

	run_until(now + rnd_below(12) * TICK);
	now += rnd_below(TICK);
	for (i = 0; i < VOTE_CELLS; i++) {
		cells[i].stops = 0;
		cells[i].gap = 0;
	}
	at = now;
	before = counted(bad);
	hostile_cell = bad;
	k->fault(bad);
	if (k->lasts) {
		hostile = k->fault;
		run_until(now + 50 * TICK);
		hostile = NULL;
	}
	/* the fault may be found later, so it runs on for a while */
	run_until(now + 2 * PERIOD);
	for (until = at + BACK + 100 * TICK; now < until && !all_are_back();)
		run_until(now + TICK);
	t->found += cells[bad].stops > 0;
	t->seen += counted(bad) > before;
	if (all_are_back())
		t->recovered++;
	else
		t->lost++;
	if (now - at > t->worst)
		t->worst = now - at;
	CHECK(!k->must_be_found || cells[bad].stops);
	for (i = (int)k->victims; i < VOTE_CELLS; i++) {
		const struct cell *good = &cells[(bad + i) % VOTE_CELLS];

		t->disturbed += good->stops || good->gap > HELD_UP;
	}
	CHECK_EQ(wrong, 0);
}

TEST(campaign_of_faults_against_three_cells)
{
	unsigned int k, n;

	make_world();
	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct table t = { 0 };

		memset(found, 0, sizeof(found));
		for (n = 0; n < CASES; n++) {
			unit_case("%s, case %u", kinds[k].name, n);
			one_case(&kinds[k], &t);
		}
		printf("# %-35s %u faults, %2u found there, %2u by the others, %2u recovered, "
		       "%u lost, %u good cells disturbed, <= %3lu ms\n", kinds[k].name, CASES,
		       t.found, t.seen, t.recovered, t.lost, t.disturbed,
		       (unsigned long)(t.worst / TICK));
		CHECK_EQ(t.lost, 0);
		CHECK_EQ(t.disturbed, 0);
	}
}

/*
 * Wrong votes with numbers ahead are gone as soon as the cell votes again. Otherwise the next cell
 * that is at fault could repeat them, and both would outvote the third one.
 */
TEST(a_vote_takes_those_ahead_of_it_back)
{
	make_world();
	vote_wrongly(0);
	CHECK(vote_newest(memory_of(0)) > cells[0].image.count + 4);
	run_until(now + 4 * TICK);
	CHECK(vote_newest(memory_of(0)) <= cells[0].image.count);
	CHECK(!cells[0].stops && !cells[1].stops && !cells[2].stops);
}

/* One cell has failed, and the state of another one is spoilt: both that are left go back. */
TEST(two_that_differ_go_back_to_the_agreed_state)
{
	unsigned int n, split = 0;
	int i;

	make_world();
	for (n = 0; n < 20; n++) {
		unit_case("case %u", n);
		memset(found, 0, sizeof(found));
		kill_cell(2);
		cells[2].boots_at = UINT64_MAX;
		run_until(now + rnd_below(30) * TICK);
		flip_state((int)rnd_below(2));
		run_until(now + 60 * TICK);
		split += found[DETECT_SPLIT] > 0;
		for (i = 0; i < 2; i++)
			CHECK(now - cells[i].acted_at <= HELD_UP);
		cells[2].boots_at = now;
		run_until(now + 60 * TICK);
		CHECK(all_are_back());
	}
	CHECK_EQ(wrong, 0);
	CHECK(split > 10);
}

/* Three different states: all go back. */
TEST(three_that_differ_go_back_to_the_agreed_state)
{
	unsigned int n;
	int i;

	make_world();
	for (n = 0; n < 20; n++) {
		unit_case("case %u", n);
		memset(found, 0, sizeof(found));
		for (i = 0; i < VOTE_CELLS; i++)
			cells[i].image.words[0] += 1 + (uint64_t)i;
		run_until(now + 100 * TICK);
		CHECK(all_are_back() && found[DETECT_SPLIT]);
	}
	CHECK_EQ(wrong, 0);
}

/* One cell votes wrongly: another cell waits for the third one, which has not been there. */
TEST(first_two_cells_wait_for_the_third_one)
{
	make_world();
	kill_cell(0);
	kill_cell(1);
	kill_cell(2);
	memset(cellmemory_of(2), 0, MEMORY);
	cells[2].boots_at = cells[1].boots_at = UINT64_MAX;
	cells[0].boots_at = now;
	hostile_cell = 1;
	hostile = vote_wrongly;
	memset(found, 0, sizeof(found));
	run_until(now + 300 * TICK);
	CHECK(!cells[0].stops && !found[DETECT_SPLIT] && cells[0].runs);
	cells[2].boots_at = now;
	run_until(now + 60 * TICK);
	CHECK(now - cells[0].acted_at <= HELD_UP && cells[0].acted == cells[2].acted);
	CHECK(!cells[0].stops && !cells[2].stops && !wrong);
}

/* It repeats the first votes of the first cell, and contradicts the later ones. */
static void agree_at_first(int i)
{
	uint64_t number = vote_newest(memory_of(0));
	struct hash root = { .word = { 1 } };

	if (number < 4) {
		memcpy(memory_of(i), memory_of(0), sizeof(struct vote_memory));
		return;
	}
	vote_take_back(memory_of(i), 3);
	vote_publish(memory_of(i), number, &root);
}

/* A hostile cell does not make the first one restart because the third one starts later. */
TEST(third_cell_may_come_later)
{
	int i;

	lay_out_world();
	for (i = 0; i < VOTE_CELLS; i++)
		cells[i].boots_at = UINT64_MAX;
	cells[0].boots_at = now;
	cellmemory_again(1);
	hostile_cell = 1;
	hostile = agree_at_first;
	run_until(now + COMES / 4);
	CHECK(cells[0].acted == 3 && !cells[0].stops);
	cells[2].boots_at = now;
	run_until(now + 60 * TICK);
	CHECK(now - cells[0].acted_at <= HELD_UP && now - cells[2].acted_at <= HELD_UP);
	CHECK(!cells[0].stops && !cells[2].stops && !wrong);
}
