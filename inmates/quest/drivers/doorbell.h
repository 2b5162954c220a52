/* SPDX-License-Identifier: GPL-2.0-only */
/* Keys and requests that Linux puts in the comm page of a cell. */
#ifndef QUEST_DOORBELL_H
#define QUEST_DOORBELL_H

#include <stdbool.h>

/*
 * Sets the handler of the doorbell's vector, if the cell has a doorbell. Returns false if there is
 * no memory.
 */
bool doorbell_start(void);

/* Checks the comm page now: obeys requests and takes keys as far as there is room. */
void doorbell_look(void);

/*
 * Starts the thread that increments comm.heartbeat. It checks the comm page, too, so a lost
 * doorbell delays a request by one beat at most. Outside a cell the thread exists, too, and does
 * nothing, so that the scheduler serves the same VCPUs. Returns false if there is no memory.
 */
bool heartbeat_start(void);

#endif
