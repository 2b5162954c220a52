// SPDX-License-Identifier: GPL-2.0-only
/* The policies: each is a row of the table. */
#include <stddef.h>
#include "placement.h"

static uint64_t score_first(struct place_system *s, unsigned int program, unsigned int cell)
{
	(void)s;
	(void)program;
	(void)cell;
	return 0;
}

static uint64_t score_near(struct place_system *s, unsigned int program, unsigned int cell)
{
	int near = s->programs[program].near;

	return near == PLACE_NOWHERE ? 0 : place_distance(s, (unsigned int)near, cell);
}

static uint64_t score_balance(struct place_system *s, unsigned int program, unsigned int cell)
{
	return place_load(s, cell, program);
}

static const struct {
	const char *name;
	uint64_t (*score)(struct place_system *s, unsigned int program, unsigned int cell);
} policies[PLACE_POLICIES] = {
	[PLACE_FIRST] = { "first", score_first },
	[PLACE_NEAR] = { "near", score_near },
	[PLACE_BALANCE] = { "balance", score_balance },
};

const char *place_policy_name(unsigned int policy)
{
	return policy < PLACE_POLICIES ? policies[policy].name : NULL;
}

uint64_t place_score(struct place_system *s, enum place_policy policy, unsigned int program,
		     unsigned int cell)
{
	return policies[policy].score(s, program, cell);
}

int place_choose(struct place_system *s, enum place_policy policy, unsigned int program,
		 uint64_t cells)
{
	uint64_t score, least = UINT64_MAX;
	int chosen = PLACE_NOWHERE;
	unsigned int i;

	cells &= place_candidates(s, program);
	for (i = 0; i < s->num_cells; i++) {
		if (!(cells & 1ull << i))
			continue;
		score = place_score(s, policy, program, i);
		if ((chosen == PLACE_NOWHERE || score < least) && place_admits(s, i, program)) {
			chosen = (int)i;
			least = score;
		}
	}
	return chosen;
}
