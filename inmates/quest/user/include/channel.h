/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Channels: memory that this cell shares with other cells or with Linux, as its file lists them, or
 * as the program opens them by a key. Documentation/how-to/channels.md explains the types.
 *
 * These are functions of Quest's own: they return minus the number of an error. Only
 * channel_open(), channel_close(), waits and bells call the kernel. A channel has one user at a
 * time in a cell, and one thread at a time may use it. fork() and exec() do not pass it on; it is
 * closed when the program ends. A channel of type memory goes with the program to another cell, and
 * keeps its number and its address.
 *
 * ENODATA: there is no newer item. ENOBUFS: there is no room, or it is the other end's turn.
 * ENOTCONN, ESHUTDOWN, EHOSTDOWN: the other end is not there yet, is stopped, has failed.
 * ECONNRESET: it restarted. This is returned once; the next call is for its new life. EBADMSG: it
 * wrote what cannot be. ESTALE: it overwrites items too fast. EMSGSIZE: not the size of an item.
 * EACCES: this end does not read, or write. EBADF: no such channel is open.
 */
#ifndef QUEST_CHANNEL_H
#define QUEST_CHANNEL_H

#include <quest.h>
#include <qv/end.h>

#define CHANNELS_MAX	QV_CHAN_MAX_CHANNELS	/* channels of a cell, at run time too */

/*
 * Opens a channel by its name. Returns its number, from 0 on; ENODEV, EBUSY, EPROTO, ENOMEM,
 * ENAMETOOLONG, EFAULT.
 */
int channel_open(const char *name);

/*
 * Opens a channel at run time, by the key that both ends know, if `dynamic-channels` of the cell's
 * file lists the other end. The other end may open it before or after, and must describe it in the
 * same words: until then it is absent. Waits on the thread's VCPU until QV has answered, a minute
 * at most. Returns its number. EINVAL: there can be no such channel; ENOLINK: the cell's file does
 * not list that end; EEXIST: the other end described it differently; ENOSPC: all memory is in use;
 * EBUSY: this cell has the key open; ETIMEDOUT, EINTR, ENAMETOOLONG, EFAULT, ENOMEM, EPROTO. A
 * reader of a ring with a bell opens this:
 *
 *	const struct quest_key orders = {
 *		.key = 7, .peer = "linux", .type = QV_CHAN_RING, .full = QV_CHAN_FULL_ERROR,
 *		.flags = QV_CHAN_BELL, .item = 64, .slots = 4,
 *	};
 *	int channel = channel_open_key(&orders);
 *
 * channel_close() and the program's end give the end up. The memory is cleared when both ends have.
 */
int channel_open_key(const struct quest_key *key);
int channel_close(int channel);

/*
 * Takes the next item of a ring or mailbox, or the value of a four-slot if it is newer than the
 * one taken before. `to` has `size` bytes, at least an item. Never waits. Returns the item's bytes.
 */
int channel_read(int channel, void *to, size_t size);

/* Writes an item; `size` is that of an item, for a mailbox at most that. Never waits. Returns 0. */
int channel_write(int channel, const void *from, size_t size);

/*
 * Rings the other ends, if the channel has bells (`bell: true`); else does nothing.
 * channel_write() does it, and so does channel_read() of a ring. Programs that write by
 * channel_end() call it themselves.
 */
int channel_ring(int channel);

/*
 * Waits on the thread's VCPU until channel_read() has something to return other than ENODATA,
 * ENOTCONN and ESTALE; for the writer of a ring, until channel_write() has something to return
 * other than ENOBUFS; for both ends of a mailbox, until one of them has. Waits `us` microseconds at
 * most (negative: without a limit). Returns 0; ETIMEDOUT, EINTR, EBADF; EACCES for a channel of
 * type memory. The writer of a four-slot never has to wait.
 */
int channel_wait(int channel, long us);

/*
 * Returns the end, for the calls of qv/end.h: claim and commit, peek and release, the last value
 * again, the memory, the state. NULL: no such channel is open.
 */
struct qv_end *channel_end(int channel);

#endif
