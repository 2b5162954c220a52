/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fake machine with cells. Each call is a real hypercall of the manager. After it, every table
 * of every instance is read and compared with the expected owners.
 */
#ifndef WORLD_H
#define WORLD_H

#include "choices.h"
#include "fake.h"

#define WORLD_PAGES	(FAKE_RAM / QV_HUGE)
#define REQUEST_PAGE	1u	/* 2 MiB page that holds the requests: never requested */

struct world {
	struct qv_mon_create cell[QV_INSTANCES];	/* the request that each was created from */
	u32 state[QV_INSTANCES];			/* enum qv_mon_state */
	u32 given_back[QV_INSTANCES];			/* in pages */
};

void world_open(struct world *w);
/* The calls. Each checks its result. */
u64 world_create(struct world *w, const struct qv_mon_create *q);
u64 world_start(struct world *w, u32 id);
u64 world_stop(struct world *w, u32 id);
u64 world_reclaim(struct world *w, u32 id);	/* one step */
void world_touch(struct world *w, u64 gpa, bool write);	/* an access of Linux */

/* Checks every table of every instance. */
void world_check(const struct world *w);

/* Two CPUs and 5 pages of 2 MiB in two runs; the other has one other CPU and other memory. */
void world_simple_request(struct qv_mon_create *q);
void world_other_request(struct qv_mon_create *q);
/* Makes a request that may be sound. */
void world_request(struct qv_mon_create *q, struct choices *c);
/* Does a random call or access, then world_check(). */
void world_step(struct world *w, struct choices *c);
u64 world_call(u64 nr, u64 argument);
u64 world_pages(const struct qv_mon_create *q);

#endif
