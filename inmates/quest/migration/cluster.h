/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * This cell and those to which its programs can move, as a system of cells with programs
 * (placement/placement.h). Of the other cells only the VCPUs are known: they count as the cells'
 * own, and their programs do not move. For one thread at a time, with interrupts on.
 */
#ifndef QUEST_MIGRATION_CLUSTER_H
#define QUEST_MIGRATION_CLUSTER_H

#include "../kernel/process/process.h"
#include "../placement/placement.h"
#include "link.h"
#include "load.h"

#define CLUSTER_CELLS	(LINKS_MAX + 1)
#define CLUSTER_HERE	0		/* the number of this cell */

struct cluster_cell {
	const char *name;
	int link;			/* that leads there; -1: this cell */
	/* minus an error: there is no answer, or it does not list all VCPUs; cannot be chosen */
	int error;
	struct mig_load load;
};

struct cluster {
	struct cluster_cell cells[CLUSTER_CELLS];
	unsigned int num_cells;
	/*
	 * The cells that can be chosen. `of` has their numbers in cells[]. The programs are those
	 * of this cell, with their pids, and last, if it was given, a new one of no cell.
	 */
	struct place_system system;
	unsigned int of[CLUSTER_CELLS];
	int pids[PROCESS_MAX + 1];
};

/*
 * Lists this cell, and if `all`, the others: asks them for their loads, and waits until they have
 * answered, some seconds at most.
 */
struct cluster *cluster_ask(bool all);

/*
 * Makes the system of the cells that were asked, as they are now. `more`: the VCPU of the new
 * program; NULL: no new program. Programs with a pid in `stay` (up to the first 0) do not move.
 */
void cluster_update(struct cluster *c, const struct admission_entry *more, const int *stay);

#endif
