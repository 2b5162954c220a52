/* SPDX-License-Identifier: GPL-2.0-only */
/* The cell of steps.c. It has one resource of each kind, which Linux must not have. */
#ifndef STEPS_CELL_H
#define STEPS_CELL_H

#include "abi/types.h"

/* Bits of the resources. Linux has one if it can use it, or write it for a channel of its own */
enum {
	HAS_BLOCK	= 1 << 0,
	HAS_MEMORY	= 1 << 1,	/* two runs of a page each */
	HAS_MEMORY2	= 1 << 2,
	HAS_CHANNEL	= 1 << 3,	/* the page of a channel of cells */
	HAS_SECTION	= 1 << 4,	/* the cell's section of a channel with Linux */
	HAS_BAR		= 1 << 5,	/* registers of the PCI function */
	HAS_ALL		= (1 << 6) - 1
};

#define STEPS_BLOCK	(10 * (u64)QV_HUGE)
#define STEPS_SHARED	(52 * (u64)QV_HUGE)	/* the channel with Linux */
#define STEPS_BAR	0xfe000000ull
#define STEPS_FUNCTION	0x28u			/* 00:05.0 */
/* Vectors of the channel with Linux: of bells to Linux, and of bells to the cell */
#define LINUX_BELL	0x41u
#define CELL_BELL	0x50u

/* Makes the machine that has the function, and the request, which it writes to REQUEST_PAGE */
void steps_request(struct qv_mon_create *q);
/* Returns what Linux's tables and its map of ports let it have */
u32 steps_linux_has(void);
/* Returns what no CPU of Linux may have between any two steps */
u32 steps_secret(void);
/* Returns the page that the manager maps at @va, or 0 */
u64 steps_mapping(u64 va);
/* The cell has written to its memory and channel. Linux must not see that: steps_seen() */
void steps_write(void);
/* Reports a failure if Linux has a page that the cell wrote, and it is not cleared */
void steps_seen(u32 has);

#endif
