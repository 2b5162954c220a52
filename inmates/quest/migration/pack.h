/* SPDX-License-Identifier: GPL-2.0-only */
/* Turns a program that was detached (process/move.h) into a header of wire.h, and back. */
#ifndef QUEST_MIGRATION_PACK_H
#define QUEST_MIGRATION_PACK_H

#include "../kernel/process/process.h"
#include "wire.h"

/* Fills in the header of a detached program, except for its channels (channels.h). */
void mig_pack(struct mig_header *h, const struct process *p);

/* Returns the size of the program that a header describes. */
struct mig_size mig_size_of(const struct mig_header *h);

/*
 * Gives a new process, which has an image, the fields of a checked header. Its epoch is one of the
 * source's clock. Returns 0, or minus an error: ENOENT: an open file is not in this cell's archive,
 * or it is another file there.
 */
int mig_unpack(struct process *p, const struct mig_header *h);

#endif
