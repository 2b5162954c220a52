/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Channels of programs. A program attaches an end of its cell: the channel is mapped into it, as
 * foreign pages (space.h), and it can write there what the end may write. From then on it reads and
 * writes by lib/channel, without the kernel. Interrupts are off in every call.
 */
#ifndef QUEST_USERCHANNEL_H
#define QUEST_USERCHANNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <qv/channel.h>
#include "../user/include/quest/types.h"

#define BELLS_MASK	0x7FFFFFFFu	/* bells are counted mod 2^31 */

struct process;

/* A channel that a program has attached, when the program moves to another cell (migration/) */
struct channel_image {
	char name[QV_CHAN_NAME_LEN];	/* empty: it was opened at run time */
	uint64_t session;		/* as in its life page */
	uint64_t at, length;		/* where it is in the program; length 0: no channel */
	uint32_t number;		/* by which the program knows it */
	uint32_t bells;			/* so many the program has counted */
	uint32_t writes;		/* 1: it may write what its end may write; else 0 */
	uint32_t reserved;
};

/*
 * Attaches the cell's end of the channel `name` to `p`. Returns the number by which `p` knows it
 * from now on, and in `*to` where it is, or minus an error (errors.h): ENODEV, EPROTO, EBUSY,
 * ENOMEM.
 */
int userchannel_attach(struct process *p, const char *name, struct quest_channel *to);

/*
 * Opens a channel at run time and attaches it. Waits for at most a minute. Returns its number, or
 * minus an error: those of key_open() (drivers/key.h). Its end closes when `p` detaches it or ends.
 */
int userchannel_open_key(struct process *p, const struct quest_key *wish, struct quest_channel *to);

/* Detaches the channel with that number from `p`, and wakes its waiters. Returns 0 or -EBADF. */
int userchannel_detach(struct process *p, int number);

/*
 * Blocks until the bell of the channel has rung more often than `seen` times, at most until TSC
 * `end`. Without a bell it blocks for at most a tick: the caller looks again. Returns how
 * often the bell has rung (mod 2^31), or minus an error: EBADF, ETIMEDOUT, EINTR.
 */
long userchannel_sleep(struct process *p, int number, uint32_t seen, uint64_t end);

/*
 * Rings the other ends of the channel, if it has bells. If the cell has rung too often, the thread
 * sleeps until the cell's next turn. Returns 0, or minus an error: EBADF, EINTR.
 */
long userchannel_ring(const struct process *p, int number);

/*
 * For migration. userchannel_get() describes channel `n` of the cell (drivers/channel.h), if `p`
 * has it; else it returns false. userchannel_put() attaches channel `n` to `p`, a program that
 * comes and has no threads yet, with no other rights than the end has. The image was checked
 * (migration/check.h). The program counts one bell more than before, so that none is lost on the
 * way. Returns 0, or minus EPROTO, EBUSY, ENOMEM.
 */
bool userchannel_get(const struct process *p, int n, struct channel_image *image);
int userchannel_put(struct process *p, int n, const struct channel_image *image);

/* Returns whether `p` has a channel attached. */
bool userchannel_used(const struct process *p);

/* Call it when `p` loses its address space: it drops the channels of `p`. */
void userchannel_leave(const struct process *p);

#endif
