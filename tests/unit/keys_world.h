/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fake machine with three cells and channels at run time. Cell `a` may share them with `b` and
 * linux, cell `b` with `a`, cell `c` with `a`, which does not list `c`. @n: 0 to 2.
 */
#ifndef KEYS_WORLD_H
#define KEYS_WORLD_H

#include "cell/cell.h"
#include "world.h"

#define KEYS_CELLS	3u
#define POOL_PA(n, i)	((100 + 8 * (n) + (i)) * (u64)QV_HUGE)
#define KEYS_PAGES	3u		/* life page, a section of each end */

extern struct qv_mon_create keys_q[KEYS_CELLS];
extern struct world keys_w;

void keys_request(u32 n, u32 windows);
/* All cells run; their ids are 1 to KEYS_CELLS */
void keys_world_open(u32 windows);
struct instance *keys_cell(u32 n);
struct qv_chan_page *keys_life(u64 pa);
void keys_describe(struct qv_mon_channel *c, u32 key, const char *first, const char *second,
		   u32 end);
/* Cell n posts what .ask says, and a CPU of the front end takes the NMI and answers */
s32 keys_post(u32 n, u32 nr);
s32 keys_open(u32 n, u32 key, const char *first, const char *second);
s32 keys_close(u32 n, u32 window);
struct leaf keys_leaf(u32 n, u32 window, u32 page);
/* Checks all translations of a window */
void keys_expect_window(u32 n, u32 window, u64 pa, u32 end);
void keys_expect_none(u32 n, u32 window);
/* True if the page is hidden from Linux; Linux owns all of it; the channel there is zero */
bool keys_hidden(u64 pa);
bool keys_linux_owns(u64 pa);
bool keys_zero(u64 pa);
void keys_destroy(u32 n);

#endif
