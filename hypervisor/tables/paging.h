/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page tables in the x86-64 format: the monitor's own, and nested tables. NPT and EPT agree on what
 * is used here: bits 0..2 permit, a table permits all, bit 7 marks a large page; nested.h has the
 * rest. Pure: no hardware is touched, so the host tests run this code.
 */
#ifndef QV_PAGING_H
#define QV_PAGING_H

#include "abi/types.h"

struct qv_mon_boot;

#define PT_P		(1ull << 0)	/* bit 0: present; in EPT: readable */
#define PT_W		(1ull << 1)
#define PT_U		(1ull << 2)	/* bit 2: user; in EPT: executable */
#define PT_PWT		(1ull << 3)
#define PT_PCD		(1ull << 4)
#define PT_PS		(1ull << 7)	/* bit 7: a leaf above the lowest level */
#define PT_NX		(1ull << 63)
#define PT_ADDR		0x000ffffffffff000ull
#define PT_TABLE	(PT_P | PT_W | PT_U)
/* AMD-Vi 3.06, 2.2.3: reads and writes; the level of the table below an entry of @level */
#define PT_AMDVI(level)	(3ull << 61 | ((level) - 1) << 9)
#define PT_BITS		9		/* address bits that each level translates */
#define PT_ENTRIES	(1u << PT_BITS)	/* a table is a page of entries of 8 bytes each */

/* A run of pages for tables. Single pages are never given back */
struct pt_pool {
	u64 va, pa;		/* virtual and physical address of the first byte of the block */
	u32 next, end;		/* offsets in the block; .next grows atomically up to .end */
};

struct paging {
	struct pt_pool *pt_pool;
	u64 root;		/* physical */
	/* no page crosses a border of this RAM; NULL: pages may cross it */
	const struct qv_mon_boot *ram;
	u32 levels;		/* 4 or 5 */
	u32 ept;		/* entries are in VT-x's format: see nested.h */
	u32 amdvi;		/* 1: entries of tables also hold what AMD-Vi needs */
	u32 max_leaf;		/* largest page: 1 = 4 KiB, 2 = 2 MiB, 3 = 1 GiB */
};

/* Changes an entry, unless another CPU has changed it since this one has @seen it */
static inline void entry_exchange(u64 *entry, u64 seen, u64 value)
{
	__atomic_compare_exchange_n(entry, &seen, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* Bytes that an entry at @level spans */
static inline u64 level_size(u32 level)
{
	return 1ull << (12 + PT_BITS * (level - 1));
}

/* Takes a cleared page. Returns its physical address, or 0 if the pool is empty. */
u64 pt_take(struct pt_pool *pool);
u64 *pt_table(const struct pt_pool *pool, u64 pa);

/*
 * Returns the entry for @addr at the deepest existing level, but not below @level. *@found is its
 * level.
 */
u64 *paging_find(const struct paging *p, u64 addr, u32 level, u32 *found);

/*
 * Returns the entry for @addr at exactly @level. Makes missing tables, and splits larger leaves
 * into equal smaller ones. Returns NULL if the pool is empty.
 */
u64 *paging_entry(const struct paging *p, u64 addr, u32 level);

/* Maps [@addr, +@len) to @pa with @flags, in the largest pages that fit. 0, or -1: pool empty */
int paging_map(const struct paging *p, u64 addr, u64 pa, u64 len, u64 flags);

#endif
