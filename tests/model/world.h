/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fake machine with cells. Each call is a real hypercall of the manager. After it, every table
 * of every instance is read and compared with the expected owners.
 */
#ifndef WORLD_H
#define WORLD_H

#include "choices.h"
#include "fake.h"
#include "tables.h"

#define WORLD_PAGES	(FAKE_RAM / QV_HUGE)
/* the 2 MiB page that holds the requests; no request may contain it */
#define REQUEST_PAGE	1u

struct world {
	struct qv_mon_create cell[QV_INSTANCES];	/* the request that created each cell */
	u32 state[QV_INSTANCES];			/* enum qv_mon_state */
	u32 given_back[QV_INSTANCES];			/* pages, then channels */
	struct qv_chan_page channel[WORLD_PAGES];	/* the channel in use there */
	u32 started[WORLD_PAGES];			/* its ends that cells have had */
	bool linux_uses[WORLD_PAGES];			/* Linux is an end of that channel */
};

void world_open(struct world *w);
/* The calls of the manager. Each function checks the result. */
u64 world_create(struct world *w, const struct qv_mon_create *q);
u64 world_start(struct world *w, u32 id);
u64 world_stop(struct world *w, u32 id);
u64 world_reclaim(struct world *w, u32 id);	/* one step */
void world_touch(struct world *w, u64 gpa, bool write);	/* Linux accesses @pa */

/* Checks every table of every instance. */
void world_check(const struct world *w);

/*
 * The simple request has two CPUs and 5 pages of 2 MiB in two runs. The other request has one other
 * CPU and other memory.
 */
void world_simple_request(struct qv_mon_create *q);
void world_other_request(struct qv_mon_create *q);
/* Makes a request that may be sound. */
void world_request(struct qv_mon_create *q, struct choices *c);
/* Makes a random call or access, then calls world_check(). */
void world_step(struct world *w, struct choices *c);
u64 world_call(u64 nr, u64 argument);
u64 world_pages(const struct qv_mon_create *q);
/* Checks a translation of @pa, a page that Linux does not own */
void world_check_denied(const struct leaf *l, u64 pa);
/* Returns the memory type of @pa that tables must have */
u32 world_type_of(u64 pa);

/* ---- world_channels.c ---- */

/* Gives a request its name, and channels that other requests may have, too */
void world_channels_request(struct qv_mon_create *q, struct choices *c);
/* Returns true if the monitor has a channel in the 2 MiB page at @pa */
bool world_hole(const struct world *w, u64 pa);
/* Cell @id is starting: call this before its state says so */
void world_channels_started(struct world *w, u32 id);
/* Destroy of cell @id has given up its channel @i */
void world_channel_left(struct world *w, u32 id, u32 i);
/* QV_HC_CHANNEL for any address; checks the result */
void world_channel_return(struct world *w, u64 pa);
/* Check Linux's translations of a page with a channel in use, and a cell's translation of one */
void world_channel_front(const struct world *w, u64 pa);
void world_channel_leaf(const struct qv_mon_create *q, u64 gpa, u64 len, const struct leaf *l);
/* Bytes that a cell maps for its channels */
u64 world_channel_bytes(const struct qv_mon_create *q);

#endif
