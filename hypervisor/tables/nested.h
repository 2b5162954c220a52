/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nested tables: the physical memory that each guest may touch.
 *
 * Front end: identity with holes. Nothing is mapped at first; a nested fault on memory that is not
 * a hole fills the largest identity page that fits. A hole is a non-present entry with NESTED_HOLE.
 *
 * Cell: exactly the memory it was granted.
 */
#ifndef QV_NESTED_H
#define QV_NESTED_H

#include "tables/paging.h"

/*
 * Permissions of an entry that maps a page, in EPT's layout (SDM vol. 3, 29.3.2). nested_bits()
 * converts them to this processor's layout. Only EPT has the memory type: without NESTED_WB it is
 * uncached, and the guest's PAT may make that write-combining. NPT has the MTRRs for it.
 */
#define NESTED_R	PT_P
#define NESTED_W	PT_W
#define NESTED_X	PT_U
#define NESTED_WB	(6ull << 3)	/* RAM */
#define NESTED_RX	(NESTED_R | NESTED_X)
#define NESTED_RWX	(NESTED_R | NESTED_W | NESTED_X)
#define NESTED_HOLE	(1ull << 52)	/* in a non-present entry: memory that Linux may not use */

#define QV_OPEN_PAGES	16		/* QV_OPEN_LEN / 4096 */

static inline u64 nested_bits(const struct paging *p, u64 what)
{
	if (p->ept)
		return what;
	/* APM vol. 2, 15.25.5 */
	return (what & (PT_P | PT_W)) | PT_U | (what & NESTED_X ? 0 : PT_NX);
}

enum front_owner {
	FRONT_OWNS,		/* identity mapped, or will be on first touch */
	FRONT_HOLE,		/* taken away */
	FRONT_SPECIAL,		/* read-only, answered with ones, ... */
};

/* State of the @level-sized page (1: 4 KiB, 2: 2 MiB) at @pa in the front end's tables */
enum front_owner front_owner(const struct paging *p, u64 pa, u32 level);

/* Make the tables under 2 MiB page @pa so that hole and unhole cannot fail. 0 or -1 */
int front_prepare(const struct paging *p, u64 pa);
/* Take a 2 MiB page from, or give it back to, the front end (after front_prepare) */
void front_hole(const struct paging *p, u64 pa);
void front_unhole(const struct paging *p, u64 pa);

/*
 * The same for whole pages of devices, [@pa, +@len). Prepare: 0 or -1.
 * @take: they become holes; else they are the front end's again
 */
int front_prepare_range(const struct paging *p, u64 pa, u64 len);
void front_set_range(const struct paging *p, u64 pa, u64 len, bool take);

/* The open part of an instance's block at @pa becomes readable; @table is a page for it */
void front_open(const struct paging *p, u64 pa, u64 table);

/*
 * Does this processor have the address @pa, and can the tables hold it? An address beyond the
 * tables would be looked up at the place of another address.
 */
bool front_reaches(const struct paging *p, u64 pa);

/*
 * Maps the largest page around @pa that holds no hole, by identity. Returns 0, or -1: hole, no
 * address, or pool empty.
 */
int front_fill(const struct paging *p, u64 pa);

#endif
