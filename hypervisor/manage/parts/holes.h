/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory of channels: see holes.c. */
#ifndef QV_HOLES_H
#define QV_HOLES_H

#include "core/instance.h"
#include "tables/nested.h"

/* Are the addresses of the channel's pages well-formed? Its length is already checked */
bool channel_places_ok(const struct qv_mon_channel *c);
/* Has a 2 MiB page of the channel a part in [@pa, +@len)? Has any hole? */
bool channel_meets(const struct qv_mon_channel *c, u64 pa, u64 len);
bool holes_overlap(const struct instance *inst, u64 pa, u64 len);
/* Have two channels a byte in common? */
bool channels_overlap(const struct qv_mon_channel *a, const struct qv_mon_channel *b);
/* Is each of the channel's pages a hole, or Linux's and without a window? */
bool channel_takable(const struct instance *inst, const struct qv_mon_channel *c);

/* Sets holes and tables aside for all channels of the request. Returns enum qv_mon_error */
u64 holes_reserve(const struct qv_mon_create *q);
/* After holes_reserve(): takes the channel's pages from Linux, as far as they are no holes yet */
void holes_take(const struct qv_mon_channel *c);
/* Gives those back to Linux that no other channel uses */
void holes_give(const struct qv_mon_channel *c);
/* Linux no longer reaches a channel that has a page of 2 MiB for itself */
void holes_hide(const struct qv_mon_channel *c);
/* Sets the access that Linux has to pages of the channel from the byte @at on */
void holes_show(const struct qv_mon_channel *c, u64 at, u64 len, enum linux_access access);

/* The channel's memory from the byte @at on, up to the end of the 2 MiB page, in the window */
void *channel_open(const struct qv_mon_channel *c, u64 at);
/* Clears that. Returns its length */
u64 channel_clear_part(const struct qv_mon_channel *c, u64 at);

#endif
