/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Proposal, not yet offered by qv.ko: the contract between its character devices
 * /dev/qv-channel/NAME and programs that map a channel (libqv). A channel that was made at run time
 * has the name key-HEX, with 16 digits.
 *
 * mmap() at offset 0 maps the window of qv/channel.h, read-only. After QV_CHANNEL_CLAIM, mmap()
 * at the offset of the section of Linux maps this section for writing. poll() reports POLLIN when
 * a bell has arrived since the last QV_CHANNEL_ARM, or the life word of an end has changed since.
 */
#ifndef _UAPI_LINUX_QV_CHANNEL_H
#define _UAPI_LINUX_QV_CHANNEL_H

#include <linux/types.h>
#include <linux/ioctl.h>

#define QV_CHANNEL_FOLDER	"/dev/qv-channel"
#define QV_CHANNEL_ABI		1

struct qv_channel_window {
	__u32 abi;		/* out: QV_CHANNEL_ABI */
	__u32 end;		/* out: the end of Linux */
	__u64 length;		/* out: bytes of the window */
};

#define QV_CHANNEL_WINDOW	_IOR('q', 0x60, struct qv_channel_window)
/*
 * This descriptor alone uses the section of Linux until it is closed; read() and write() of other
 * descriptors fail with EBUSY meanwhile. EBUSY: another descriptor uses it.
 */
#define QV_CHANNEL_CLAIM	_IO('q', 0x61)
/* Forgets bells that have arrived. Look for items after it, then wait. */
#define QV_CHANNEL_ARM		_IO('q', 0x62)
/* Sends a bell to the other ends. Bells merge; it never fails for want of space. */
#define QV_CHANNEL_RING		_IO('q', 0x63)

#endif
