/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fake machine with cells in it: the manager's hypercalls are made for
 * real, and after each one every table of every instance is read and compared
 * with what should be whose.
 */
#ifndef WORLD_H
#define WORLD_H

#include "choices.h"
#include "fake.h"

#define WORLD_PAGES	(FAKE_RAM / QV_HUGE)
#define REQUEST_PAGE	1u		/* 2 MiB page where requests are written: never asked for */

struct world {
	struct qv_mon_create cell[QV_INSTANCES];	/* what each was created from */
	u32 state[QV_INSTANCES];			/* enum qv_mon_state */
	u32 given_back[QV_INSTANCES];			/* pages */
};

void world_open(struct world *w);
/* The calls; each result is judged */
u64 world_create(struct world *w, const struct qv_mon_create *q);
u64 world_start(struct world *w, u32 id);
u64 world_stop(struct world *w, u32 id);
u64 world_reclaim(struct world *w, u32 id);	/* one step */
void world_touch(struct world *w, u64 gpa, bool write);	/* Linux does */

/* Every table of every instance */
void world_check(const struct world *w);

/* Two CPUs and 5 pages of 2 MiB in two runs; the other: another CPU and other memory */
void world_simple_request(struct qv_mon_create *q);
void world_other_request(struct qv_mon_create *q);
/* A request that may fit; @pages 2 MiB pages of memory */
void world_request(struct qv_mon_create *q, struct choices *c);
/* Any of it, and world_check() */
void world_step(struct world *w, struct choices *c);
u64 world_call(u64 nr, u64 argument);
u64 world_pages(const struct qv_mon_create *q);

#endif
