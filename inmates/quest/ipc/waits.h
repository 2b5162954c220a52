/* SPDX-License-Identifier: GPL-2.0-only */
/* The waits of a VCPU for messages, which an end of a channel tells the other: user/lib/ipc. */
#ifndef QUEST_IPC_WAITS_H
#define QUEST_IPC_WAITS_H

#include "../user/include/quest/types.h"

/*
 * Fills in how long VCPU `id`, a Main VCPU, takes at most to serve `w->demand_ns`, with the VCPUs
 * that the cell has now. Returns 0, or minus EINVAL. May take milliseconds, and block: interrupts
 * are on.
 */
int waits_of(int id, struct quest_ipc_wait *w);

#endif
