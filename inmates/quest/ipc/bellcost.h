/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * w of the bounds of messages (bounds.h): the longest time from a bell until the thread that waits
 * for it is runnable. The thread of the bells takes c of its I/O VCPU for a bell. It may have
 * served the bell before just now, and then has budget again c / U after it began (sched/pibs.h).
 * So w = c + c / U. This holds if no other bell comes meanwhile.
 */
#ifndef QUEST_IPC_BELLCOST_H
#define QUEST_IPC_BELLCOST_H

#include <stdint.h>

/*
 * Returns w in cycles, 0 if the cell has no bells. The first call measures c, which takes a tenth
 * of a second: interrupts are on, and the caller is a thread that may block.
 */
uint64_t bellcost_wake(void);

#endif
