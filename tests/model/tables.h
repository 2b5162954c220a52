/* SPDX-License-Identifier: GPL-2.0-only */
/* Page tables in the RAM of the fake machine, read by physical address as the processor does. */
#ifndef TABLES_H
#define TABLES_H

#include "tables/paging.h"

#define LEAF_WB		6u
#define LEAF_UC		0u
#define LEAF_AS_MTRRS	~0u		/* nested tables of AMD-V, and the monitor's own tables */

struct leaf {
	bool present, write, execute;
	u32 type;			/* memory type as EPT numbers it; LEAF_AS_MTRRS */
	u64 pa;
};

/*
 * Reports a failure for a reserved bit that is set, and for an entry that permits less than its
 * leaf.
 */
struct leaf tables_walk(const struct paging *p, u64 addr);
/* Calls a function for each mapping, in order of addresses. */
void tables_each(const struct paging *p,
		 void (*each)(void *ctx, u64 addr, u64 len, const struct leaf *l), void *ctx);
/* Returns true if all the tables are inside [@start, +@len) */
bool tables_inside(const struct paging *p, u64 start, u64 len);

#endif
