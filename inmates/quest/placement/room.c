// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plans that make room for a program. The search moves programs in `at`, as the plan will, so that
 * each admission test sees the cells as they are at that step.
 */
#include "placement.h"

#define ALL_CELLS	UINT64_MAX

struct search {
	struct place_system *s;
	enum place_policy policy;
	unsigned int program, cell;	/* room is made for the program in the cell */
	uint64_t cells;			/* in which it may begin */
	struct place_plan *plan;
};

/* Ends the moves behind the first `keep`. Returns false. */
static bool undo(struct search *r, unsigned int keep)
{
	const struct place_move *m;

	while (r->plan->num_moves > keep) {
		m = &r->plan->moves[--r->plan->num_moves];
		r->s->at[m->program] = m->from;
	}
	return false;
}

/* Moves a program. Its destination must have admitted it. */
static void move(struct search *r, unsigned int program, int to)
{
	r->plan->moves[r->plan->num_moves++] = (struct place_move){
		program, r->s->at[program], to
	};
	r->s->at[program] = to;
}

/* Moves a program to one of `cells`. Returns false if none of them admits it. */
static bool move_away(struct search *r, unsigned int program, uint64_t cells)
{
	int to = place_choose(r->s, r->policy, program, cells);

	if (to != PLACE_NOWHERE)
		move(r, program, to);
	return to != PLACE_NOWHERE;
}

/* Returns whether `cell` admits `program` if `other` is not there. */
static bool admits_without(struct place_system *s, unsigned int cell, unsigned int program,
			   unsigned int other)
{
	int at = s->at[other];
	bool admits;

	s->at[other] = PLACE_NOWHERE;
	admits = place_admits(s, cell, program);
	s->at[other] = at;
	return admits;
}

/* Returns whether a program that may leave for the new one is in the cell. */
static bool is_there(const struct search *r, unsigned int program, unsigned int cell)
{
	return r->s->at[program] == (int)cell && program != r->program &&
	       place_movable(r->s, program);
}

/* One program leaves the cell. */
static bool one_leaves(struct search *r)
{
	struct place_system *s = r->s;
	unsigned int v;

	for (v = 0; v < s->num_programs && !place_given_up(s); v++)
		if (is_there(r, v, r->cell) && admits_without(s, r->cell, r->program, v) &&
		    move_away(r, v, ALL_CELLS))
			return true;
	return false;
}

/* Returns whether the cell admits the program if both others are not there. */
static bool admits_without_both(struct search *r, unsigned int v, unsigned int w)
{
	int at = r->s->at[v];
	bool admits;

	r->s->at[v] = PLACE_NOWHERE;
	admits = admits_without(r->s, r->cell, r->program, w);
	r->s->at[v] = at;
	return admits;
}

static bool both_leave(struct search *r, unsigned int v, unsigned int w)
{
	return (move_away(r, v, ALL_CELLS) && move_away(r, w, ALL_CELLS)) || undo(r, 0);
}

/* Two programs leave the cell. */
static bool two_leave(struct search *r)
{
	struct place_system *s = r->s;
	unsigned int v, w;

	for (v = 0; v < s->num_programs; v++) {
		if (!is_there(r, v, r->cell))
			continue;
		for (w = v + 1; w < s->num_programs && !place_given_up(s); w++)
			if (is_there(r, w, r->cell) && admits_without_both(r, v, w) &&
			    (both_leave(r, v, w) || both_leave(r, w, v)))
				return true;
	}
	return false;
}

/* `v` leaves the cell to cell `to`, after another program has left `to` to a third cell. */
static bool leaves_by(struct search *r, unsigned int v, unsigned int to)
{
	struct place_system *s = r->s;
	unsigned int w;

	for (w = 0; w < s->num_programs && !place_given_up(s); w++) {
		if (!is_there(r, w, to) || !admits_without(s, to, v, w) ||
		    !move_away(r, w, ~(1ull << r->cell)))
			continue;
		move(r, v, (int)to);
		return true;
	}
	return false;
}

/* One program leaves the cell to a cell that another program leaves before. */
static bool one_follows(struct search *r)
{
	struct place_system *s = r->s;
	unsigned int v, to;

	for (v = 0; v < s->num_programs; v++) {
		if (!is_there(r, v, r->cell) || !admits_without(s, r->cell, r->program, v))
			continue;
		for (to = 0; to < s->num_cells; to++)
			if (place_candidates(s, v) & 1ull << to && leaves_by(r, v, to))
				return true;
	}
	return false;
}

static bool (*const shapes[])(struct search *r) = { one_leaves, two_leave, one_follows };

/* Orders the cells in which the program can begin by the policy. Returns their number. */
static unsigned int order_cells(struct search *r, unsigned char order[PLACE_CELLS])
{
	uint64_t cells = r->cells & place_candidates(r->s, r->program);
	uint64_t score[PLACE_CELLS], mine;
	unsigned int i, at, n = 0;

	for (i = 0; i < r->s->num_cells; i++) {
		if (!(cells & 1ull << i))
			continue;
		mine = place_score(r->s, r->policy, r->program, i);
		for (at = n++; at && score[at - 1] > mine; at--) {
			score[at] = score[at - 1];
			order[at] = order[at - 1];
		}
		score[at] = mine;
		order[at] = (unsigned char)i;
	}
	return n;
}

static void restore(struct search *r)
{
	unsigned int moves = r->plan->num_moves;

	undo(r, 0);
	r->plan->num_moves = moves;
}

bool place_make_room(struct place_system *s, enum place_policy policy, unsigned int program,
		     uint64_t cells, struct place_plan *plan)
{
	struct search r = {
		.s = s, .policy = policy, .program = program, .cells = cells, .plan = plan
	};
	unsigned char order[PLACE_CELLS];
	unsigned int shape, i, n;

	*plan = (struct place_plan){ .cell = place_choose(s, policy, program, cells) };
	if (plan->cell != PLACE_NOWHERE)
		return true;
	n = order_cells(&r, order);
	for (shape = 0; shape < sizeof(shapes) / sizeof(shapes[0]); shape++) {
		for (i = 0; i < n; i++) {
			r.cell = order[i];
			if (!shapes[shape](&r))
				continue;
			plan->cell = order[i];
			restore(&r);
			return true;
		}
	}
	return false;
}
