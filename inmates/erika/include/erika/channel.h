/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Channels: memory that this cell shares with other cells or with Linux, as its file lists them.
 * They are no part of OSEK. The calls are those of Quest's programs, over lib/channel. If the
 * channel has a bell, CHANNEL of the OIL file says which task it activates, or which event it sets.
 *
 * The functions that return int return enum qv_chan_result, and qv_chan_sentence() explains it. One
 * task or ISR at a time may use a channel: protect it by a resource if there are several.
 */
#ifndef ERIKA_CHANNEL_H
#define ERIKA_CHANNEL_H

#ifdef __cplusplus
extern "C" {
#endif

#include <erika/types.h>
#include <qv/cell.h>
#include <qv/end.h>

typedef struct qv_end ChannelType;

/*
 * Opens the channel `name` of this cell. Returns 0; QV_CHAN_ABSENT: there is no such channel, or no
 * cell; QV_CHAN_LAYOUT, QV_CHAN_OWN_SECTION. A channel that is opened again continues where it was.
 */
int channel_open(ChannelType *channel, const char *name);

/* A channel at run time. The other end must describe it in the same words. */
typedef struct {
	uint32_t key;			/* from 1 on */
	uint32_t writes;		/* 1: this end writes, or begins a mailbox; 0: the other */
	uint32_t type;			/* QV_CHAN_RING and others of qv/channel.h */
	uint32_t full;			/* ring: QV_CHAN_FULL_ERROR and others; other types: 0 */
	uint32_t flags;			/* QV_CHAN_BELL, QV_CHAN_ONE_SHOT */
	/* with QV_CHAN_BELL: of the ISR that the bell is to trigger (SOURCE = "0x2E"); 0: none */
	uint32_t vector;
	uint64_t item;			/* bytes of an item */
	uint64_t slots;			/* of a ring; 0 and 1 are the same */
	const char *peer;		/* name of the other end: a cell, or "linux" */
} ChannelKeyType;

/*
 * Opens a channel at run time, by the key that both ends know, and closes it. They never wait.
 * Return 0 when that is done; QV_KEY_PENDING: call again later, from an alarm; or why it is refused
 * (enum qv_key_answer of qv/cell.h), which channel_key_sentence() explains. One request is under
 * way at a time: another task gets QV_KEY_PENDING meanwhile, so call until the result is another
 * one. Either call first takes the answer to the other one, if the channel still waits for it. From
 * its first channel_close_key() on, a channel is not open. After QV_KEY_STUCK close it again. Close
 * it also if an open returns QV_KEY_MALFORMED, since the manager may have opened it. Do not open a
 * channel that is open.
 */
int channel_open_key(ChannelType *channel, const ChannelKeyType *key);
int channel_close_key(ChannelType *channel);
const char *channel_key_sentence(int result);

/*
 * Takes the next item of a ring or mailbox, or the value of a four-slot if it is newer than the one
 * taken before. `to` has `size` bytes, at least an item. Returns the bytes of the item, or a result
 * below 0: QV_CHAN_NOTHING, the state of the other end, and others.
 */
int channel_read(ChannelType *channel, void *to, uint64_t size);

/* Writes an item; `size` is that of an item, for a mailbox at most that. Returns 0 or a result. */
int channel_write(ChannelType *channel, const void *from, uint64_t size);

/*
 * Rings the other ends, if the channel has a bell, and with one-shot bells only if one of them
 * waits; else does nothing. channel_write() does it, and so does channel_read() of a ring. Programs
 * that write by qv/end.h call it themselves.
 */
void channel_ring(ChannelType *channel);

/*
 * As channel_read(), but while there is no item and while the other end is absent or starts again,
 * it arms a one-shot bell and waits for the events `bell`, one of which the channel's bell sets,
 * and clears them. Only an extended task without resources may call it: elsewhere it returns
 * QV_CHAN_USAGE instead of waiting (with extended status). QV_CHAN_RESTARTED at the end that begins
 * a mailbox: the other end started again, and has no question to answer. If one was open, write it
 * again. At any end without `reconnect: auto`: no further item comes.
 */
int channel_wait(ChannelType *channel, EventMaskType bell, void *to, uint64_t size);

#ifdef __cplusplus
}
#endif
#endif
