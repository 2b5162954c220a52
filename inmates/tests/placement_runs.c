// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that arrive one after the other in cells, for test_placement.py and for the evaluation.
 * Each step of a plan is tested again, by code that shares only the admission test with placement/.
 */
#include <string.h>
#include "../quest/placement/placement.h"

struct arrivals {
	uint64_t arrived, accepted;
	uint64_t by_moves, moves;	/* accepted after moves of others; number of these moves */
	uint64_t bad_steps;		/* steps that their destination does not admit */
	uint64_t tests, most_tests;	/* admission tests: of all arrivals, and at most of one */
};

void placement_arrive(struct place_system *s, int policy, bool moves, struct arrivals *r);

/* Moves a program. Returns false if the destination does not admit it, or there is no link. */
static bool step(struct place_system *s, unsigned int program, int to)
{
	static struct admission_entry set[PLACE_VCPUS];
	const struct place_cell *c = &s->cells[to];
	unsigned int n = c->num_own, i;
	int from = s->at[program];

	memcpy(set, c->own, n * sizeof(*set));
	s->at[program] = to;
	for (i = 0; i < s->num_programs; i++) {
		if (s->at[i] != to)
			continue;
		if (n + s->programs[i].num_vcpus > PLACE_VCPUS)
			return false;
		memcpy(&set[n], s->programs[i].vcpus, s->programs[i].num_vcpus * sizeof(*set));
		n += s->programs[i].num_vcpus;
	}
	if (from != PLACE_NOWHERE && (from == to || !(s->cells[from].links & 1ull << to)))
		return false;
	return c->test == ADMISSION_EXACT ? admission_exact(set, n) : admission_bound(set, n);
}

static void carry_out(struct place_system *s, unsigned int program, const struct place_plan *plan,
		      struct arrivals *r)
{
	unsigned int i;

	for (i = 0; i < plan->num_moves; i++) {
		r->bad_steps += s->at[plan->moves[i].program] != plan->moves[i].from;
		r->bad_steps += !step(s, plan->moves[i].program, plan->moves[i].to);
	}
	r->bad_steps += !step(s, program, plan->cell);
	r->accepted++;
	r->by_moves += plan->num_moves > 0;
	r->moves += plan->num_moves;
}

/* All programs arrive, in their order. With `moves`, others make room for them. Adds to `r`. */
void placement_arrive(struct place_system *s, int policy, bool moves, struct arrivals *r)
{
	unsigned int p, most = s->most_tests;
	struct place_plan plan;
	bool found;

	for (p = 0; p < s->num_programs; p++) {
		s->tests = 0;
		s->most_tests = moves ? most : 0;
		found = place_make_room(s, policy, p, UINT64_MAX, &plan);
		r->arrived++;
		r->tests += s->tests;
		if (s->tests > r->most_tests)
			r->most_tests = s->tests;
		if (found)
			carry_out(s, p, &plan, r);
	}
	s->most_tests = most;
}
