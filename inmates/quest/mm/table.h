/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page tables of four levels: AMD64 manual volume 2, section 5.3. A table is identified by its
 * physical address, at which the kernel can access it. Pure except for the tables themselves: no
 * CR3, no TLB.
 */
#ifndef QUEST_TABLE_H
#define QUEST_TABLE_H

#include <stdint.h>

#define PTE_PRESENT	(1ull << 0)
#define PTE_WRITE	(1ull << 1)
#define PTE_USER	(1ull << 2)
#define PTE_UNCACHED	(3ull << 3)	/* bits PWT and PCD: not cached */
#define PTE_LARGE	(1ull << 7)
#define PTE_GLOBAL	(1ull << 8)
#define PTE_FOREIGN	(1ull << 9)	/* a bit for software: the space does not own the page */
#define PTE_NO_EXECUTE	(1ull << 63)
#define PTE_ADDRESS	0x000FFFFFFFFFF000ull

#define TABLE_ENTRIES	512
#define LARGE_PAGE	(2ull << 20)

/* Allocates an empty table. Returns 0 if there is no page. */
uint64_t table_new(void);

/* Returns the index of `va` in its table of `level` (3: the top). */
static inline unsigned int table_index(uint64_t va, int level)
{
	return va >> (12 + 9 * level) & (TABLE_ENTRIES - 1);
}

static inline uint64_t *table_at(uint64_t table)
{
	return (uint64_t *)(uintptr_t)table;
}

/*
 * Returns the entry of `va` at `level` (0: 4 KiB pages, 1: 2 MiB pages). Creates missing tables on
 * the way, with PTE_WRITE and `rights` (PTE_USER or 0). Returns NULL if a large page is mapped
 * there, or if there is no memory.
 */
uint64_t *table_make(uint64_t root, uint64_t va, int level, uint64_t rights);

/* Returns the 4 KiB entry of `va`, or NULL if there is no table for it. Changes nothing. */
uint64_t *table_find(uint64_t root, uint64_t va);

#endif
