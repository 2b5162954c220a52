/* SPDX-License-Identifier: GPL-2.0-only */
/* The lock on management of cells, and how Linux's request to open it is answered. */
#ifndef QUEST_MANAGEMENT_LOCK_H
#define QUEST_MANAGEMENT_LOCK_H

#include <stdbool.h>

/* Linux can create, start, stop or destroy no cell until we unlock. Only in a cell. */
void lock_management(void);
void unlock_management(void);

/* Whether Linux's next request is agreed to; no at boot, and again after each yes. */
void lock_agree(bool yes);

/* Linux asks: QV_REQUEST_UNLOCK stands in the comm page. Interrupts off. */
void lock_asked(void);

#endif
