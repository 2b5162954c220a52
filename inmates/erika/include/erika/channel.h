/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Channels: memory that this cell shares with other cells or with Linux, as its file lists them.
 * They are no part of OSEK. The calls are those of Quest's programs, over lib/channel. None of them
 * waits: an alarm activates a task that reads.
 *
 * The functions that return int return enum qv_chan_result, and qv_chan_sentence() explains it. One
 * task or ISR at a time may use a channel: protect it by a resource if there are several.
 */
#ifndef ERIKA_CHANNEL_H
#define ERIKA_CHANNEL_H

#ifdef __cplusplus
extern "C" {
#endif

#include <qv/end.h>

typedef struct qv_end ChannelType;

/*
 * Opens the channel `name` of this cell. Returns 0; QV_CHAN_ABSENT: there is no such channel, or no
 * cell; QV_CHAN_LAYOUT, QV_CHAN_OWN_SECTION. A channel that is opened again continues where it was.
 */
int channel_open(ChannelType *channel, const char *name);

/*
 * Takes the next item of a ring or mailbox, or the value of a four-slot if it is newer than the one
 * taken before. `to` has `size` bytes, at least an item. Returns the bytes of the item, or a result
 * below 0: QV_CHAN_NOTHING, the state of the other end, and others.
 */
int channel_read(ChannelType *channel, void *to, uint64_t size);

/* Writes an item; `size` is that of an item, for a mailbox at most that. Returns 0 or a result. */
int channel_write(ChannelType *channel, const void *from, uint64_t size);

#ifdef __cplusplus
}
#endif
#endif
