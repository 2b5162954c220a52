/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cell's ends of its channels, by number: their index in the info page, and for channels at run
 * time (key.h) the numbers after these. An end has one user at a time: the kernel, for the thread
 * of the shell, or a program (kernel/userchannel.h).
 */
#ifndef QUEST_CHANNEL_H
#define QUEST_CHANNEL_H

#include <stdbool.h>
#include <qv/cell.h>
#include <qv/end.h>

#define CHANNEL_KERNEL	(-1)		/* as a user */

/* Returns the n-th channel in the cell's file, or NULL if it lists fewer. */
const struct qv_info_channel *channel_nth(unsigned int n);

/* Returns channel `n`; at run time it has no name. NULL: no channel has that number. */
const struct qv_info_channel *channel_at(unsigned int n);

/* Number `n` is the channel at run time `at` from now on, with a bell or without; NULL: none. */
void channel_set_window(unsigned int n, const struct qv_info_channel *at, bool bell);

/* Returns the index of the channel of that name; -1: the cell has no such channel. */
int channel_find(const char *name);

/* Returns the checked copy of the life page of channel `n`; NULL: it is malformed. */
const struct qv_chan_page *channel_page(unsigned int n);

/*
 * Makes the kernel the user of the end of channel `n`, until channel_close(). Returns enum
 * qv_chan_result, and the end in *end. QV_CHAN_USAGE: it has a user.
 */
int channel_open(unsigned int n, struct qv_end **end);
void channel_close(unsigned int n);
/* Returns the end of a channel whose user is the kernel. */
struct qv_end *channel_end(unsigned int n);

/* Returns the pid of the program that uses the end of channel `n`; 0: none; CHANNEL_KERNEL. */
int channel_user(unsigned int n);

/*
 * Makes the program `pid` the user of the end; 0: none. The kernel attaches again before it uses
 * the end after a program.
 */
void channel_set_user(unsigned int n, int pid);

/* Returns whether channel `n` has bells. */
bool channel_has_bell(unsigned int n);

/*
 * Rings the other ends, if the channel has bells. If the cell has rung too often, the thread sleeps
 * until the cell's next turn.
 */
void channel_ring(unsigned int n);
/* The same, but never sleeps. Returns 0 if it is done, else the TSC at which to try again. */
uint64_t channel_try_ring(unsigned int n);
/* The same if they want it: after a write, and after a read of a ring. */
void channel_ring_after(struct qv_end *end, unsigned int n);

#endif
