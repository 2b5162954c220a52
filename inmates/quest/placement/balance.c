// SPDX-License-Identifier: GPL-2.0-only
/* Moves that balance the loads of the cells. */
#include "placement.h"

#define LEAST_GAIN	((1ull << 62) / 100)

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns by how much the larger load of the cells shrinks if the program moves; 0: it does not. */
static uint64_t gain(struct place_system *s, unsigned int program, unsigned int to)
{
	unsigned int from = (unsigned int)s->at[program];
	uint64_t before = larger(place_load(s, from, PLACE_NO_PROGRAM),
				 place_load(s, to, PLACE_NO_PROGRAM)), after;

	s->at[program] = (int)to;
	after = larger(place_load(s, from, PLACE_NO_PROGRAM),
		       place_load(s, to, PLACE_NO_PROGRAM));
	s->at[program] = (int)from;
	return before > after ? before - after : 0;
}

/* Finds the move that gains most. Returns false if no move gains enough. */
static bool find_best(struct place_system *s, struct place_move *best)
{
	uint64_t most = 0, one, cells;
	unsigned int p, to;

	for (p = 0; p < s->num_programs && !place_given_up(s); p++) {
		cells = place_movable(s, p) ? place_candidates(s, p) : 0;
		for (to = 0; to < s->num_cells; to++) {
			one = cells & 1ull << to ? gain(s, p, to) : 0;
			if (one < LEAST_GAIN || one <= most || !place_admits(s, to, p))
				continue;
			most = one;
			*best = (struct place_move){ p, s->at[p], (int)to };
		}
	}
	return most;
}

unsigned int place_rebalance(struct place_system *s, struct place_move *moves, unsigned int most)
{
	unsigned int n = 0, i;

	while (n < most && find_best(s, &moves[n])) {
		s->at[moves[n].program] = moves[n].to;
		n++;
	}
	for (i = n; i--;)
		s->at[moves[i].program] = moves[i].from;
	return n;
}
