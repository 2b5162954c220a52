/* SPDX-License-Identifier: GPL-2.0-only */
/* The cell's ends of its channels. One thread at a time may use a channel: that of the shell. */
#ifndef QUEST_CHANNEL_H
#define QUEST_CHANNEL_H

#include <qv/cell.h>
#include <qv/end.h>

/* Returns the cell's n-th channel, or NULL if it has fewer. */
const struct qv_info_channel *channel_nth(unsigned int n);

/*
 * Attaches to the channel of that name, unless this is done. Returns enum qv_chan_result, and the
 * end in *end. QV_CHAN_ABSENT: the cell has no such channel.
 */
int channel_open(const char *name, struct qv_end **end);

#endif
