/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Channels of cells with an end of Linux: the character devices /dev/qv-channel/NAME.
 *
 * read() waits for an item that this descriptor has not read yet, and returns it whole: EINVAL if
 * the buffer is shorter. Of a four-slot, each descriptor reads each value that it finds, and
 * pread() at offset 0 returns the last value again. Items of a ring or mailbox go to one descriptor
 * each. 0: the peer has stopped, or no cell lists the channel. write() writes one item. poll()
 * changes nothing. A memory channel has mmap() only. Errors:
 *
 * EAGAIN	O_NONBLOCK: not now
 * EPIPE	the peer has failed; for a writer also: has stopped; read() of a mailbox, once: the
 *		peer started again before it answered the question of Linux
 * ENOBUFS	the ring is full, and `full` is not `block`
 * EBADMSG	a word of the peer cannot be right
 * ENODATA	a mailbox had an empty message, which is taken: it is the turn of Linux
 * EFAULT	the program's memory cannot be read or written; the item is not lost
 * ENODEV	write(): no cell lists the channel now
 * EBUSY	a descriptor has claimed the end; at open(): another one is open for writing
 * EOPNOTSUPP	Linux does not write, or read, this channel, or it is memory
 *
 * If the channel has bells, read(), write() and poll() wait for one, and write() rings the other
 * ends; so does read() of a ring, for a writer that waits. A bell is an interrupt with the
 * channel's name in /proc/interrupts. They also look every 100 ms, since an end that attaches rings
 * no bell; without bells they look once per tick of the clock. After QV_CHANNEL_CLAIM, poll()
 * reports bells alone: EPOLLIN after a bell since QV_CHANNEL_ARM. If Linux begins a mailbox, it is
 * a bell, too, that the other end has attached.
 *
 * mmap() at offset 0 maps the window of qv/channel.h, read-only. After QV_CHANNEL_CLAIM, mmap() at
 * the offset of the section of Linux maps this section for writing, with MAP_SHARED only (EPERM).
 * ENODEV: no cell of the channel was started yet, or no cell lists it now. From then on mappings
 * for reading show zeros, and mappings for writing show a page of the program's own.
 */
#ifndef _UAPI_LINUX_QV_CHANNEL_H
#define _UAPI_LINUX_QV_CHANNEL_H

#include <linux/types.h>
#include <linux/ioctl.h>

#define QV_CHANNEL_FOLDER	"/dev/qv-channel"
#define QV_CHANNEL_ABI		2

struct qv_channel_window {
	__u32 abi;		/* out: QV_CHANNEL_ABI */
	__u32 end;		/* out: the end of Linux */
	__u64 length;		/* out: bytes of the window */
};

#define QV_CHANNEL_WINDOW	_IOR('q', 0x60, struct qv_channel_window)
/*
 * The program of this descriptor uses the section of Linux by mmap(), until it is closed. read()
 * and write() of all descriptors fail with EBUSY meanwhile. EBUSY: another one has claimed it.
 */
#define QV_CHANNEL_CLAIM	_IO('q', 0x61)
/* Rings the cells of the channel, as write() does. Waits if their bell-rate is exceeded */
#define QV_CHANNEL_RING		_IO('q', 0x62)
/* Forgets bells to this descriptor that have arrived */
#define QV_CHANNEL_ARM		_IO('q', 0x63)

#define QV_CHANNEL_ENDS		9

struct qv_channel_state {
	/* out: of each end, the writer's first: generation << 8 | enum qv_chan_state, one word of
	 * qv/channel.h. 0: the end is absent
	 */
	__u64 life[QV_CHANNEL_ENDS];
	__u32 ends;		/* out: the number of ends; the other words are 0 */
	__u32 end;		/* out: the end of Linux */
};

#define QV_CHANNEL_STATE	_IOR('q', 0x64, struct qv_channel_state)
#endif
