// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cell that waits for others, in each state of both: it acts, or a detector finds the fault in
 * time, or it waits for a cell that can still decide. The test writes the votes of the others.
 */
#include <string.h>
#include "world.h"
#include "unit.h"

#define FOUND_IN	(TIME_US * US + 2 * PERIOD)	/* at most */
#define FAR		1000		/* so many votes ahead */

/* State of another cell when this one has voted */
enum kind {
	SAME, DIFFERENT, ALIKE,		/* voted; ALIKE: both others in the same way */
	AHEAD, AHEAD_ALIKE,		/* has made a later vote than the last agreed one */
	SLOW,				/* has only made votes that were agreed */
	AFRESH,				/* has begun again, and both others in the same way */
	FAILED, FAILED_AHEAD,
	NEVER,				/* has never voted */
	KINDS
};

static const char *const names[KINDS] = {
	"same", "different", "alike", "ahead", "ahead alike", "slow", "afresh", "failed",
	"failed ahead", "never",
};

enum end { ACTS, REPLICA, SPLIT, BEHIND, WAITS };

static struct setting {
	int booted;			/* so many cells; then only the first one runs */
	bool count_wrong;		/* it votes with a number far ahead */
} setting;

static bool is_against(enum kind k)
{
	return k >= DIFFERENT && k <= AHEAD_ALIKE;
}

static enum end expected(enum kind a, enum kind b)
{
	if (a == SAME || b == SAME)
		return ACTS;
	if (a == ALIKE && b == ALIKE)
		return REPLICA;
	if (a == b && (a == AHEAD_ALIKE || a == AFRESH))
		return BEHIND;
	if (!is_against(a) && !is_against(b))
		return WAITS;
	/* a cell that has never been there can decide on the first votes */
	return setting.booted == 1 && (a == NEVER || b == NEVER) ? WAITS : SPLIT;
}

/* Whether the first cell need not wait for TIME. */
static bool is_decided(enum kind a, enum kind b)
{
	bool voted_a = a <= ALIKE, voted_b = b <= ALIKE;

	return a == SAME || b == SAME || (voted_a && voted_b) ||
	       (voted_a && b >= FAILED && b != NEVER) || (voted_b && a >= FAILED && a != NEVER);
}

static bool can_be(enum kind k, int i)
{
	if (i >= setting.booted)
		return setting.booted == 1 ? k != SLOW && k != AFRESH && k != FAILED : k == NEVER;
	return k != NEVER;
}

/* The first cell waits in its last vote. */
static void begin(void)
{
	int i;

	for (i = 0; i < VOTE_CELLS; i++) {
		stop(i);
		memset(&cells[i], 0, sizeof(cells[i]));
		cells[i].boots_at = i < setting.booted ? now : UINT64_MAX;
	}
	lay_out_world();
	run_until(now + TICK);
	if (setting.booted > 1) {	/* a third cell that has not come by then is late */
		now += COMES;
		run_until(now + 80 * TICK);
	}
	for (i = 1; i < VOTE_CELLS; i++) {
		stop(i);
		cells[i].alive = false;
	}
	if (setting.count_wrong && setting.booted > 1)
		cells[0].image.count += FAR;
	run_until(now + 5 * TICK);
	cells[0].stops = 0;
	memset(found, 0, sizeof(found));
}

static struct hash some_hash(uint64_t n)
{
	return (struct hash){ .word = { n, 1, 2, 3 } };
}

static void vote_on(int i, uint64_t number, uint64_t n)
{
	struct hash h = some_hash(n);

	vote_publish(memory_of(i), number, &h);
}

static void make(int i, enum kind k, uint64_t last, uint64_t agreed)
{
	uint64_t ahead = setting.count_wrong ? agreed + 1 : last + FAR;
	struct hash own;

	vote_take_back(memory_of(i), agreed);
	switch (k) {
	case SAME:
		CHECK(vote_read(memory_of(0), last, &own));
		vote_publish(memory_of(i), last, &own);
		break;
	case DIFFERENT:
		vote_on(i, last, (uint64_t)i);
		break;
	case ALIKE:
		vote_on(i, last, 0);
		break;
	case AHEAD:
		vote_on(i, ahead + (uint64_t)i, 0);
		break;
	case AHEAD_ALIKE:
		vote_on(i, ahead, 0);
		break;
	case AFRESH:
		memset(memory_of(i), 0, MEMORY);
		vote_on(i, 1, 0);
		break;
	case FAILED_AHEAD:
		vote_on(i, ahead, (uint64_t)i);
		cellmemory_set_life(i, QV_CHAN_IS_FAILED);
		break;
	case FAILED:
		cellmemory_set_life(i, QV_CHAN_IS_FAILED);
		break;
	default:
		break;
	}
	if (k != NEVER && i >= setting.booted && k != FAILED_AHEAD)
		cellmemory_set_life(i, QV_CHAN_IS_RUNNING);
}

static enum end end_of_wait(uint64_t last, uint64_t *took)
{
	uint64_t from = now;

	while (now < from + 3 * FOUND_IN && cells[0].acted != last && !cells[0].stops)
		run_until(now + TICK);
	*took = now - from;
	if (!cells[0].stops)
		return cells[0].acted == last ? ACTS : WAITS;
	if (found[DETECT_REPLICA])
		return REPLICA;
	CHECK(found[DETECT_SPLIT] || found[DETECT_BEHIND]);
	return found[DETECT_SPLIT] ? SPLIT : BEHIND;
}

static void one_wait(enum kind a, enum kind b)
{
	uint64_t took, last, agreed;
	enum end end;

	unit_case("%s and %s, %d booted%s", names[a], names[b], setting.booted,
		  setting.count_wrong ? ", far ahead" : "");
	begin();
	last = vote_newest(memory_of(0));
	agreed = cells[0].acted;
	CHECK(last > agreed && !cells[0].stops && (agreed > 0) == (setting.booted > 1));
	make(1, a, last, agreed);
	make(2, b, last, agreed);
	end = end_of_wait(last, &took);
	CHECK_EQ(end, expected(a, b));
	CHECK(end == WAITS || took <= FOUND_IN);
	CHECK(is_decided(a, b) ? took <= PERIOD : took > TIME_US * US - 10 * TICK);
	if (end != WAITS)
		return;
	/* the cell that can decide is there */
	make(1, SAME, last, agreed);
	run_until(now + HELD_UP);
	CHECK(cells[0].acted == last && !cells[0].stops);
}

TEST(no_state_of_the_others_makes_a_cell_wait_in_vain)
{
	enum kind a, b;
	unsigned int n;

	for (n = 0; n < 6; n++) {
		setting = (struct setting){ .booted = 1 + (int)n % 3, .count_wrong = n >= 3 };
		if (setting.booted == 1 && setting.count_wrong)
			continue;
		for (a = 0; a < KINDS; a++)
			for (b = 0; b < KINDS; b++)
				if (can_be(a, 1) && can_be(b, 2))
					one_wait(a, b);
	}
}
