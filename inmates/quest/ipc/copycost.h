/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The CPU time for a byte of a message: delta of Ye Li's dissertation, section 4.2, measured by
 * copying a page. The papers measure it with the caches off, for the worst case.
 */
#ifndef QUEST_IPC_COPYCOST_H
#define QUEST_IPC_COPYCOST_H

#include <stdbool.h>
#include <stdint.h>

struct copycost {
	/* cycles to copy a page of 4 KiB into memory that is cached, and into memory that is not */
	uint64_t cached, uncached;
};

/* Measures with interrupts off, for a few microseconds each time. Returns false without memory. */
bool copycost_measure(struct copycost *c);

/* Returns the cost of a byte in the unit of ipc/bounds.h. */
static inline uint64_t copycost_of_byte(uint64_t page)
{
	return page << 20;	/* page / 4096 * 2^32 */
}

#endif
