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

#include "abi/boot.h"
#include "tables/paging.h"

static inline bool overlaps(u64 a, u64 a_len, u64 b, u64 b_len)
{
	return a < b + b_len && b < a + a_len;
}

/* Returns true if [@pa, +@len) is in one piece of RAM (@whole), or has any RAM in it */
static inline bool ram_has(const struct qv_mon_boot *b, u64 pa, u64 len, bool whole)
{
	u32 i;

	for (i = 0; i < b->num_ram && i < QV_MON_RAM_RANGES; i++) {
		u64 start = b->ram[i].start, end = b->ram[i].end;

		if (whole ? pa >= start && pa < end && len <= end - pa :
		    overlaps(pa, len, start, end - start))
			return true;
	}
	return false;
}

/* True if @pa is in PCI config space. Linux's reads there are direct, writes exit: front/pci.c */
static inline bool ecam_has(const struct qv_mon_boot *b, u64 pa)
{
	return pa - b->ecam_pa < b->ecam_len;
}

/*
 * Permissions of an entry that maps a page, in EPT's layout (SDM vol. 3, 29.3.2). nested_bits()
 * converts them to this processor's layout. Only EPT has a memory type: without NESTED_WB the page
 * is uncached, and the guest's PAT may make it write-combining. With NPT the MTRRs decide.
 */
#define NESTED_R	PT_P
#define NESTED_W	PT_W
#define NESTED_X	PT_U
#define NESTED_WB	(6ull << 3)	/* RAM */
#define NESTED_RX	(NESTED_R | NESTED_X)
#define NESTED_RWX	(NESTED_R | NESTED_W | NESTED_X)
/* bit of a non-present entry: memory that Linux may not use */
#define NESTED_HOLE	(1ull << 52)
/* bit of a present entry, which no processor uses: memory that is not Linux's alone */
#define NESTED_SHARED	(1ull << 53)

static inline u64 nested_bits(const struct paging *p, u64 what)
{
	if (p->ept)
		return what;
	/* APM vol. 2, 15.25.5 */
	return (what & (PT_P | PT_W)) | PT_U | (what & NESTED_X ? 0 : PT_NX);
}

enum front_owner {
	FRONT_OWNS,		/* Linux owns it: identity-mapped, now or at the first touch */
	FRONT_HOLE,		/* taken away */
	FRONT_SPECIAL,		/* any other state, such as read-only or answered with ones */
};

/* State of the @level-sized page (1: 4 KiB, 2: 2 MiB) at @pa in the front end's tables */
enum front_owner front_owner(const struct paging *p, u64 pa, u32 level);

/* Returns the level of the entry for memory from @pa on, in a range that ends at @end */
static inline u32 piece_level(u64 pa, u64 end)
{
	return pa & (level_size(2) - 1) || end - pa < level_size(2) ? 1 : 2;
}

/* Each piece of [@pa, +@len) with an entry of its own: begins at @pa, has its entry at @level */
#define FOR_EACH_PIECE(pa, len, level) \
	for (u64 end_ = (pa) + (len); (pa) < end_ && ((level) = piece_level(pa, end_)); \
	     (pa) += level_size(level))

/* Returns true if Linux owns all of [@pa, +@len) */
static inline bool front_owns(const struct paging *p, u64 pa, u64 len)
{
	u32 level;

	FOR_EACH_PIECE(pa, len, level)
		if (front_owner(p, pa, level) != FRONT_OWNS)
			return false;
	return true;
}

enum linux_access {	/* the access that Linux has to memory */
	LINUX_NONE,	/* no access: a hole. front/touch.c answers a touch */
	LINUX_READ,	/* Linux may read and execute */
	LINUX_SHARE,	/* all access to memory that Linux does not own: FRONT_SPECIAL */
	LINUX_ALL,	/* all access, as without the monitor; config space is read-only */
};

/*
 * Makes the tables for the pages [@pa, +@len), so that front_set() of the same range cannot fail.
 * Changes no permission. Does not split pages of 2 MiB. Returns 0 or -1.
 */
int front_prepare(const struct paging *p, u64 pa, u64 len);
/* Sets the front end's permissions. While CPUs of Linux run, linux_memory() is the only caller */
void front_set(const struct paging *p, u64 pa, u64 len, enum linux_access access);
/*
 * front/linux_memory.c: sets the access that Linux has to whole pages [@pa, +@len) of RAM or of a
 * device. From enable to disable, each such change goes through this function. It cannot fail,
 * since front_prepare() of the same range came before (law 9). The change takes effect for a CPU of
 * Linux with that CPU's flush: flush_front_end().
 */
void linux_memory(u64 pa, u64 len, enum linux_access access);
/* Splits the 2 MiB hole at @pa into 4 KiB holes in the page @table; front_set() may open some */
void front_split(const struct paging *p, u64 pa, u64 table);

/*
 * Returns true if this processor has the address @pa, and the tables can hold it. The tables would
 * look up an address beyond their range as another address.
 */
bool front_reaches(const struct paging *p, u64 pa);

/*
 * Maps the largest page around @pa that holds no hole, by identity. Returns 0, or -1: a hole, no
 * such address, or an empty pool.
 */
int front_fill(const struct paging *p, u64 pa);

#endif
