/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests for two cells with a channel in the fake machine: `a`, which has its end 0, and `b`. End
 * 0 writes the first section, end 1 the second.
 */
#ifndef CHANNELS_WORLD_H
#define CHANNELS_WORLD_H

#include "world.h"

#define CHANNEL_PA	(70ull * QV_HUGE)
#define SECTIONS	3u		/* pages: life page, one of end 0, one of end 1 */

/* A channel of the ends @one (0) and @other (1), as end @end describes it */
void channels_describe(struct qv_mon_channel *c, u32 end, const char *one, const char *other);
/* @n: 0 for `a`, 1 for `b`; @other: the name of the other end */
void channels_request(struct qv_mon_create *q, u32 n, const char *other);
/* Makes the channel longer: 5 MiB and 2 pages, in three places. End 0 has 5 MiB */
void channels_long(struct qv_mon_channel *c);
void channels_destroy(struct world *w, u32 id);

#endif
