/* SPDX-License-Identifier: GPL-2.0-only */
/* Page tables under test, and a walker that follows them as the processor does. */
#ifndef SPACE_H
#define SPACE_H

#include "tables/paging.h"

/* the physical address that the tables pretend to begin at */
#define SPACE_PA	0x7654000ull
#define NOT_MAPPED	(~0ull)

struct space {
	struct pt_pool pool;
	struct paging p;
	void *memory;
};

/* @pages: tables including the root. The sanitizer guards both ends. */
void space_open(struct space *s, u32 pages, u32 levels, u32 max_leaf);
void space_close(struct space *s);
u32 space_used(const struct space *s);		/* pages taken */

/*
 * Translates @addr as in AMD APM vol. 2, 5.3. Reports a failure for a set reserved bit and for a
 * table outside the pool. *@flags: flags of the leaf; may be NULL.
 */
u64 space_walk(const struct space *s, u64 addr, u64 *flags, u32 *level);

#endif
