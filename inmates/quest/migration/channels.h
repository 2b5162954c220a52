/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Channels that move with their program: those of type `memory`, since their bytes are the same for
 * all cells that list them. In a mailbox, a ring or a four-slot each end has a section of its own,
 * which no other cell can write, so these do not move.
 */
#ifndef QUEST_MIGRATION_CHANNELS_H
#define QUEST_MIGRATION_CHANNELS_H

#include "link.h"

struct process;

/*
 * At the source: lists the channels of `p` in the header of the link. Returns 0, or minus EXDEV: a
 * channel cannot go to the cell at the other end.
 */
int mig_channels_pack(struct mig_link *l, const struct process *p);

/*
 * At the destination: attaches the channels of a checked header to `p`, as far as this cell's own
 * file gives them. Returns 0 or minus an error: EXDEV, ENOMEM.
 */
int mig_channels_attach(struct process *p, const struct mig_header *h);

#endif
