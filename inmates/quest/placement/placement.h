/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where programs run: chooses cells for programs, plans the moves that make room for a program, and
 * the moves that balance the cells. Pure, and without allocation. tools/qv/placement.py is the same
 * in Python, and tests show that both agree.
 *
 * A cell admits a program if the admission test of the cell (sched/admission.h) admits all VCPUs
 * that are there, and those of the program. It is the test that the cell itself runs. So no plan
 * breaks a guarantee: each move of a plan is admitted by its destination while the program still
 * counts at its source, with all earlier moves done, and no later ones. Past use of VCPUs is not
 * known here: it can make a cell refuse a move for a while (sched/admit.c). The program then stays.
 *
 * A program does not move away from the cell that it wants to be near to.
 */
#ifndef QUEST_PLACEMENT_H
#define QUEST_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>
#include "../sched/admission.h"

#define PLACE_CELLS	64
#define PLACE_VCPUS	256	/* of one cell: SCHED_VCPUS */
#define PLACE_MOVES	2	/* number of moves that may make room for a program */
#define PLACE_NOWHERE	(-1)
#define PLACE_NO_PROGRAM	UINT32_MAX
#define PLACE_OVERLOAD	((1ull << 62) + 1)

/* How the cell is chosen among those that admit the program; of equal cells, the first one. */
enum place_policy {
	PLACE_FIRST,			/* the first one */
	PLACE_NEAR,			/* the nearest to the cell that the program names */
	PLACE_BALANCE,			/* the one whose load is least, with the program */
	PLACE_POLICIES
};

/* C and T of all programs and cells have the same unit. */
struct place_program {
	const struct admission_entry *vcpus;
	unsigned int num_vcpus;		/* 0: it runs at best effort */
	int near;			/* cell with its device or channel peer, or PLACE_NOWHERE */
	bool stays;			/* it cannot move */
};

struct place_cell {
	const struct admission_entry *own;	/* VCPUs that do not belong to programs */
	unsigned int num_own;
	enum admission_test test;
	/* bit i: programs can move from here to cell i; cell i shares a channel with this one */
	uint64_t links, peers;
};

struct place_system {
	const struct place_cell *cells;
	const struct place_program *programs;
	unsigned int num_cells, num_programs;
	/*
	 * The cell of each program, or PLACE_NOWHERE. The calls change it while they search, and
	 * restore it.
	 */
	int *at;
	/* the admission tests done so far, and the number after which plans are given up */
	unsigned int tests, most_tests;
	struct admission_entry set[PLACE_VCPUS];	/* for the calls */
};

struct place_move {
	unsigned int program;
	int from, to;
};

/* Moves, in their order, and the cell of the program that they make room for. */
struct place_plan {
	struct place_move moves[PLACE_MOVES];
	unsigned int num_moves;
	int cell;
};

/* Returns whether `cell` admits the program with those that are there. */
bool place_admits(struct place_system *s, unsigned int cell, unsigned int program);

/* Returns whether a plan must end, since it has taken `most_tests` admission tests. */
bool place_given_up(const struct place_system *s);

/*
 * Returns the load of a cell as admission_load() does, in units of 2^-62: with `program`, if that
 * is elsewhere; PLACE_NO_PROGRAM: as it is. PLACE_OVERLOAD: more than the whole CPU.
 */
uint64_t place_load(struct place_system *s, unsigned int cell, unsigned int program);

/* Returns the number of channels on the shortest way between two cells; PLACE_CELLS: no way. */
unsigned int place_distance(const struct place_system *s, unsigned int from, unsigned int to);

/* Returns whether a plan may move the program. */
bool place_movable(const struct place_system *s, unsigned int program);

/*
 * Returns the cells, as bits, in which the program can begin or to which it can move: without a
 * cell, all; else those to which its cell has links.
 */
uint64_t place_candidates(const struct place_system *s, unsigned int program);

/* Returns the word for a policy; NULL: there is no such policy. */
const char *place_policy_name(unsigned int policy);

/* Returns a number by which `policy` prefers cells for the program: the least first. */
uint64_t place_score(struct place_system *s, enum place_policy policy, unsigned int program,
		     unsigned int cell);

/*
 * Returns the cell that `policy` chooses among those of `cells` (bits), of place_candidates() and
 * that admit the program; PLACE_NOWHERE: no cell.
 */
int place_choose(struct place_system *s, enum place_policy policy, unsigned int program,
		 uint64_t cells);

/*
 * Chooses a cell for the program among those of `cells` (bits). If no cell admits it, plans moves
 * of others, PLACE_MOVES at most, after which a cell does: one program or two leave that cell, or
 * one leaves it to a cell that another one leaves before. Returns false if no such plan was found.
 */
bool place_make_room(struct place_system *s, enum place_policy policy, unsigned int program,
		     uint64_t cells, struct place_plan *plan);

/*
 * Plans at most `most` moves. Each reduces the larger load of its two cells by 1 % of a CPU at
 * least, and by as much as any move can. Returns their number.
 */
unsigned int place_rebalance(struct place_system *s, struct place_move *moves, unsigned int most);

#endif
