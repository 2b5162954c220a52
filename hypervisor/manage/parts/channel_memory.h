/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory of channels: see channel_memory.c. */
#ifndef QV_CHANNEL_MEMORY_H
#define QV_CHANNEL_MEMORY_H

#include "core/instance.h"
#include "tables/nested.h"

/* Makes tables for so many pages of all channels, if there are not enough. Returns an error */
u64 channel_tables(u32 pages);
/* Sets the access that Linux has to all pages of the channel */
void channel_set(const struct qv_mon_channel *c, enum linux_access access);
/* Linux gets tables for the channel, by which channel_show() can open parts of it. Cannot fail */
void channel_split(struct channel *r);
void channel_show(const struct qv_mon_channel *c, u64 at, u64 len, enum linux_access access);
/* Linux no longer reaches the channel, once its CPUs have flushed */
void channel_hide(struct channel *r);
/* The life page and the memory after it in the same 2 MiB, until mapping_set(QV_VA_SCRUB, 0) */
struct qv_chan_page *channel_life_page(const struct qv_mon_channel *c);
/* Clears the part of the channel that is in its page @k */
void channel_clear(const struct qv_mon_channel *c, u32 k);

#endif
