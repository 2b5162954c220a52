/* SPDX-License-Identifier: GPL-2.0-only */
/* Page tables in the fake machine's RAM, read by physical address as the processor does. */
#ifndef TABLES_H
#define TABLES_H

#include "tables/paging.h"

#define LEAF_WB		6u
#define LEAF_UC		0u
#define LEAF_AS_MTRRS	~0u		/* nested tables of AMD-V, the monitor's own */

struct leaf {
	bool present, write, execute;
	u32 type;			/* of memory, as EPT numbers it; LEAF_AS_MTRRS */
	u64 pa;
};

/* Bits that must be zero and are not, or an entry that permits less than its leaf: a failure */
struct leaf tables_walk(const struct paging *p, u64 addr);
/* Every mapping, in order of addresses */
void tables_each(const struct paging *p, void (*each)(void *ctx, u64 addr, u64 len, const struct leaf *l),
		 void *ctx);
/* Are all the tables themselves in [@start, +@len)? */
bool tables_inside(const struct paging *p, u64 start, u64 len);

#endif
