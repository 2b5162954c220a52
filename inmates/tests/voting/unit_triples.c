// SPDX-License-Identifier: GPL-2.0-only
/*
 * All three cells may have faults at the same time: each combination of them is tried. If two cells
 * still run, or run again, these continue.
 */
#include <string.h>
#include "world.h"
#include "unit.h"

enum kind { GOOD, AHEAD, BACK, SPOILT, CRASH, HANG, FAIL, LOSE, KINDS };

static const char *const names[KINDS] = {
	"good", "counts ahead", "counts back", "spoilt", "crashes", "hangs", "fails",
	"loses its memory",
};

#define WAITS_FOR	(400 * TICK)

static uint64_t longest;

static void spoil(int i, enum kind k)
{
	struct cell *c = &cells[i];

	switch (k) {
	case AHEAD:
		c->image.count += 1 + rnd_below(rnd_below(2) ? 5 : 1000000);
		break;
	case BACK:
		c->image.count -= 1 + rnd_below(c->image.count);
		break;
	case SPOILT:
		flip(c->image.words, sizeof(c->image.words));
		break;
	case CRASH:
		c->crashes = true;
		break;
	case HANG:
		c->hangs_until = now + rnd_below(200) * TICK;
		break;
	case FAIL:
		kill_cell(i);
		memset(memory_of(i), 0, MEMORY);
		c->boots_at = UINT64_MAX;
		break;
	case LOSE:
		kill_cell(i);
		memset(memory_of(i), 0, MEMORY);
		break;
	default:
		break;
	}
}

static bool is_back(int i)
{
	return cells[i].alive && cells[i].runs && now - cells[i].acted_at <= HELD_UP;
}

static bool are_back(const enum kind *kinds)
{
	int i;

	for (i = 0; i < VOTE_CELLS; i++)
		if (kinds[i] != FAIL && !is_back(i))
			return false;
	return true;
}

static void one_triple(const enum kind *kinds)
{
	static const enum kind all[VOTE_CELLS];
	int i, fails = 0, loses = 0, votes_wrongly = 0;
	uint64_t from, settled = 0;
	bool continues;

	unit_case("%s, %s, %s", names[kinds[0]], names[kinds[1]], names[kinds[2]]);
	for (i = 0; i < VOTE_CELLS; i++) {
		cells[i].stops = 0;
		spoil(i, kinds[i]);
		votes_wrongly += kinds[i] == AHEAD || kinds[i] == SPOILT;
		fails += kinds[i] == FAIL;
		loses += kinds[i] == LOSE;
	}
	/* else no state is left that two cells know, so they wait for the third one */
	continues = !fails || fails + loses == 1;
	from = now;
	run_until(now + 20 * TICK);
	while (continues && now < from + WAITS_FOR && !settled) {
		run_until(now + 10 * TICK);
		if (are_back(kinds))
			settled = now - from;
	}
	CHECK(!continues || settled);
	for (i = 0; i < VOTE_CELLS; i++)
		CHECK(kinds[i] != GOOD || votes_wrongly || fails + loses > 1 || !cells[i].stops);
	if (settled > longest)
		longest = settled;
	for (i = 0; i < VOTE_CELLS; i++)
		if (kinds[i] == FAIL)
			cells[i].boots_at = now;
	for (from = now; now < from + WAITS_FOR && !are_back(all);)
		run_until(now + 10 * TICK);
	CHECK(are_back(all));
}

/*
 * The second cell is some votes behind when the third one fails and loses its memory, and the first
 * one votes far ahead: in the place of a vote that the second one still needs.
 */
TEST(vote_far_ahead_takes_no_vote_away_that_another_cell_needs)
{
	unsigned int ahead;

	make_world();
	for (ahead = 0; ahead < VOTE_RING; ahead++) {
		unit_case("%u ahead", 20 * VOTE_RING + ahead);
		cells[1].hangs_until = now + 12 * TICK;
		run_until(now + 10 * TICK);
		spoil(2, FAIL);
		cells[0].image.count += 20 * VOTE_RING + ahead;
		run_until(now + 130 * TICK);
		CHECK(is_back(0) && is_back(1));
		cells[2].boots_at = now;
		run_until(now + 60 * TICK);
		CHECK(is_back(0) && is_back(1) && is_back(2));
	}
	CHECK_EQ(wrong, 0);
}

/* A cell on standby fails, and leaves wrong votes in its memory. */
TEST(no_vote_of_a_life_before_is_left)
{
	struct hash h = { .word = { 1 } }, root;
	unsigned int n, k;
	uint64_t first;

	make_world();
	for (n = 0; n < 8; n++) {
		unit_case("case %u", n);
		kill_cell(0);
		first = cells[1].image.count - VOTE_RING / 2;
		for (k = 0; k < VOTE_RING; k++)
			vote_publish(memory_of(0), first + k, &h);
		cells[0].boots_at = now;
		run_until(now + 10 * TICK);
		CHECK(is_back(0));
		for (k = 0; k < VOTE_RING; k++)
			CHECK(!vote_read(memory_of(0), first + k, &root) || !hash_equal(&root, &h));
	}
	CHECK_EQ(wrong, 0);
}

/* No other cell has a vote left: the program resumes at the state that its cell has kept. */
TEST(program_may_vote_again_on_the_state_that_was_kept)
{
	make_world();
	cells[0].votes_again = true;
	spoil(1, FAIL);
	spoil(2, FAIL);
	run_until(now + 10 * TICK);
	cells[0].process.ending = true;
	run_until(now + 100 * TICK);
	CHECK(cells[0].stops == 1 && cells[0].runs && !cells[0].ended);
	CHECK_EQ(wrong, 0);
}

TEST(no_faults_of_three_cells_keep_two_of_them_waiting)
{
	unsigned int a, b, c, first;
	enum kind k[VOTE_CELLS];

	make_world();
	for (a = 0; a < KINDS; a++) {
		for (b = a; b < KINDS; b++) {
			for (c = b; c < KINDS; c++) {
				first = (unsigned int)rnd_below(VOTE_CELLS);
				k[first] = a;
				k[(first + 1) % VOTE_CELLS] = b;
				k[(first + 2) % VOTE_CELLS] = c;
				one_triple(k);
			}
		}
	}
	printf("# at most %lu ms\n", (unsigned long)(longest / TICK));
}
