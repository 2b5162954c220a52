/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The channels of two or three cells that recover a program together, on the host: each cell has a
 * memory that it alone writes, named `a`, `b` or `c`. With a clock, this is what the files of
 * quest/recovery/ call.
 */
#ifndef CELLMEMORY_H
#define CELLMEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <qv/channel.h>

#define US		1000ull		/* cycles */
#define TICK		(1000 * US)
#define PERIOD		(10000 * US)	/* of looks */

extern uint64_t now;			/* TSC */
extern int current;			/* the cell that opens channels and allocates pages */

/*
 * Lays out the memories of `cells` cells: each has a page, and `states` times `room` bytes. A cell
 * may allocate twice `room` bytes for itself.
 */
void cellmemory_lay_out(int cells, size_t room, size_t states);

/* Return the memory of cell `i`, and the pages that it has allocated. */
unsigned char *cellmemory_of(int i);
unsigned char *cellmemory_kept(int i);

/* A life of cell `i` begins, with a cleared memory; its state changes. */
void cellmemory_begin(int i);
/* Cell `i` is on standby, and begins again: its memory is as it was. */
void cellmemory_again(int i);
void cellmemory_set_life(int i, enum qv_chan_state state);

/* Flips one bit of `bytes` bytes. */
void flip(void *from, size_t bytes);

#endif
