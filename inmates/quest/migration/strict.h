/* SPDX-License-Identifier: GPL-2.0-only */
/* How the source of a link carries out a wish with MIG_STRICT. */
#ifndef QUEST_MIGRATION_STRICT_H
#define QUEST_MIGRATION_STRICT_H

#include "link.h"

/*
 * Waits for the moment at which process `pid`, which has a wish, can move so that none of its VCPUs
 * loses a part of its budget: E_m >= D_mig (moment.h, costs.h). Then it must be detached at once.
 * Interrupts are off. Returns 0 or minus an error: EAGAIN: the program's turn on the link is over;
 * ESRCH, also if the program has another wish; ETIMEDOUT, or that of the link; EMSGSIZE: the link
 * has no arena, or one message has not room for the program; ENOSLACK: a wish without a limit has
 * waited for ten of the program's periods, a second at least, or D_mig has no bound.
 */
int mig_wait_for_moment(struct mig_link *l, int pid);

#endif
