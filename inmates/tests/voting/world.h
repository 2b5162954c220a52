/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Three cells that run one program: recovery/checkpoint.c, replica.c and vote.c, unchanged, with
 * threads of the host. The program changes all of its state from count to count, votes on it, and
 * acts when another cell agrees. Other cells run while it votes or copies a state.
 */
#ifndef VOTING_WORLD_H
#define VOTING_WORLD_H

#include <stdbool.h>
#include <stdint.h>
#include "../../quest/kernel/process/process.h"
#include "../../quest/recovery/replica.h"
#include "../cellmemory.h"

#define TIME_US		40000
#define BYTES		5000
#define ROOM		8192
#define MEMORY		(4096 + VOTE_STATES * ROOM)
#define COMES		(10000000 * US)	/* so much later a cell may come than the first one */
#define HELD_UP		(4 * TICK)	/* a good cell has no longer time between two votes */

struct image { uint64_t count, words[BYTES / 8 - 1]; };

extern struct cell {
	struct process process;
	struct image image, output;	/* output: on which it acts if others agree */
	uint64_t next_look, wakes, hangs_until, boots_at, acted, acted_at, gap;
	bool alive, runs, ended;	/* ended: its thread */
	bool crashes;
	bool votes_again;		/* on the state at which it resumes */
	unsigned int stops;		/* by detectors */
} cells[VOTE_CELLS];

extern uint64_t wrong;			/* number of acts on a wrong state */
extern uint64_t found[DETECTORS];
extern void (*hostile)(int cell);	/* writes the memory of `hostile_cell` in each tick */
extern int hostile_cell;

/* Clears the memories of all cells. */
void lay_out_world(void);

/* The same; then all cells start, and run for 60 ms. */
void make_world(void);
void run_until(uint64_t end);

/* Ends the program of cell `i`. */
void stop(int i);

/* Cell `i` fails, and is back in 0 to 100 ms. */
void kill_cell(int i);

/* The votes of cell `i`. */
struct vote_memory *memory_of(int i);

#endif
