/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page tables, four levels: AMD64 manual volume 2, section 5.3. A table is
 * named by its physical address, which is where the kernel sees it too.
 * Pure but for the tables themselves: no CR3, no TLB.
 */
#ifndef QUEST_TABLE_H
#define QUEST_TABLE_H

#include <stdint.h>

#define PTE_PRESENT	(1ull << 0)
#define PTE_WRITE	(1ull << 1)
#define PTE_USER	(1ull << 2)
#define PTE_UNCACHED	(3ull << 3)	/* PWT and PCD */
#define PTE_LARGE	(1ull << 7)
#define PTE_GLOBAL	(1ull << 8)
#define PTE_FOREIGN	(1ull << 9)	/* for software: the page is not the space's own */
#define PTE_NO_EXECUTE	(1ull << 63)
#define PTE_ADDRESS	0x000FFFFFFFFFF000ull

#define TABLE_ENTRIES	512
#define LARGE_PAGE	(2ull << 20)

/* An empty table; 0: no page left. */
uint64_t table_new(void);

/* Index of `va` in its table of `level` (3: the top). */
static inline unsigned int table_index(uint64_t va, int level)
{
	return va >> (12 + 9 * level) & (TABLE_ENTRIES - 1);
}

static inline uint64_t *table_at(uint64_t table)
{
	return (uint64_t *)(uintptr_t)table;
}

/*
 * The entry of `va` at `level` (0: 4 KiB pages, 1: 2 MiB pages). Tables that are missing on the way
 * are made, with PTE_WRITE and `rights` (PTE_USER or 0). NULL: a large page is there, or memory is out.
 */
uint64_t *table_make(uint64_t root, uint64_t va, int level, uint64_t rights);

/* The 4 KiB entry of `va`; NULL: there is no table for it. Nothing is changed. */
uint64_t *table_find(uint64_t root, uint64_t va);

#endif
