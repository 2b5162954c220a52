/* SPDX-License-Identifier: GPL-2.0-only */
/* In a cell: keys and requests that Linux puts in the comm page. */
#ifndef QUEST_DOORBELL_H
#define QUEST_DOORBELL_H

#include <stdbool.h>

/* Take the doorbell's vector, if the cell has one. */
bool doorbell_start(void);

/* Look at the comm page now: requests are obeyed, keys taken as far as there is room. */
void doorbell_look(void);

/*
 * A thread that keeps comm.heartbeat going, and looks at the comm page too: a lost doorbell costs a beat. It is there
 * alone, too, where it does nothing: Quest alone and Quest in a cell have the same to decide.
 */
bool heartbeat_start(void);

#endif
