/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cell's ends of its channels, by their index in the info page. An end has one user at a time:
 * the kernel, for the thread of the shell, or a program (kernel/userchannel.h).
 */
#ifndef QUEST_CHANNEL_H
#define QUEST_CHANNEL_H

#include <stdbool.h>
#include <qv/cell.h>
#include <qv/end.h>

/* Returns the cell's n-th channel, or NULL if it has fewer. */
const struct qv_info_channel *channel_nth(unsigned int n);

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

/* Returns the pid of the program that uses the end of channel `n`; 0: none; -1: the kernel. */
int channel_user(unsigned int n);

/*
 * Makes the program `pid` the user of the end; 0: none. The kernel attaches again before it uses
 * the end after a program.
 */
void channel_set_user(unsigned int n, int pid);

/* Returns whether channel `n` has bells. */
bool channel_has_bell(unsigned int n);

/* Rings the other ends, if the channel has bells: after a write, and after a read of a ring. */
void channel_ring(unsigned int n);

#endif
