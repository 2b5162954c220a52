/* SPDX-License-Identifier: GPL-2.0-only */
/* The lock on the management of cells, and the answer to Linux's request to open it. */
#ifndef QUEST_MANAGEMENT_LOCK_H
#define QUEST_MANAGEMENT_LOCK_H

#include <stdbool.h>

/* Until unlock_management(), Linux cannot create, start, stop or destroy a cell. Only in a cell. */
void lock_management(void);
void unlock_management(void);

/*
 * Sets whether to agree to the next request of Linux. It is false at boot and after each agreement.
 */
void lock_agree(bool yes);

/* Call it when Linux has set QV_REQUEST_UNLOCK in the comm page. Interrupts are off. */
void lock_asked(void);

#endif
