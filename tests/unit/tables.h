/* SPDX-License-Identifier: GPL-2.0-only */
/* Page tables in the fake machine's RAM, read by physical address as the processor does. */
#ifndef TABLES_H
#define TABLES_H

#include <qv/types.h>

struct leaf {
	bool present, write, execute;
	u64 pa;
};

struct leaf tables_walk(u64 root, u32 levels, u64 addr);
/* Every mapping, in order of addresses */
void tables_each(u64 root, u32 levels, void (*each)(void *ctx, u64 addr, u64 len, const struct leaf *l),
		 void *ctx);
/* Are all the tables themselves in [@start, +@len)? */
bool tables_inside(u64 root, u32 levels, u64 start, u64 len);

#endif
