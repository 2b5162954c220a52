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
#include "../user/include/quest/types.h"

struct process;

/*
 * Attaches the cell's end of the channel `name` to `p`. Returns the channel's number, and in `*to`
 * where it is, or minus an error (errors.h): ENODEV, EPROTO, EBUSY, ENOMEM.
 */
int userchannel_attach(struct process *p, const char *name, struct quest_channel *to);

/*
 * Opens a channel at run time and attaches it. Waits for at most a minute. Returns its number, or
 * minus an error: those of key_open() (drivers/key.h). Its end closes when `p` detaches it or ends.
 */
int userchannel_open_key(struct process *p, const struct quest_key *wish, struct quest_channel *to);

/* Detaches channel `n` from `p`, and wakes its waiters. Returns 0, or minus EBADF. */
int userchannel_detach(struct process *p, int n);

/*
 * Blocks until the bell of channel `n` has rung more often than `seen` times, at most until TSC
 * `end`. Without a bell it blocks for at most a tick: the caller looks again. Returns how
 * often the bell has rung (mod 2^31), or minus an error: EBADF, ETIMEDOUT, EINTR.
 */
long userchannel_sleep(struct process *p, int n, uint32_t seen, uint64_t end);

/*
 * Rings the other ends of channel `n`, if it has bells. If the cell has rung too often, the thread
 * sleeps until the cell's next turn. Returns 0, or minus an error: EBADF, EINTR.
 */
long userchannel_ring(const struct process *p, int n);

/* Returns whether `p` has a channel attached. */
bool userchannel_used(const struct process *p);

/* Call it when `p` loses its address space: it drops the channels of `p`. */
void userchannel_leave(const struct process *p);

#endif
