/* SPDX-License-Identifier: GPL-2.0-only */
/* The other machine, 192.168.7.1: how it answers what the cell sends. */
#ifndef NET_REMOTE_H
#define NET_REMOTE_H

#include "frames.h"

#define LONG_S		150		/* longer than TIME_WAIT */
#define SETTLE_S	2000		/* longer than all time limits of lwIP */

/* Sees what the cell sends, and mostly acknowledges it. */
void remote_look(void);

/* Returns any of the connections that it has seen, or NULL. */
struct peer *remote_peer(void);

/* The time passes, with looks meanwhile. */
void remote_pass(unsigned int seconds);

/* It answers as TCP demands. Returns the flags of all that the cell has sent. */
unsigned int remote_obey(struct peer *p);

#endif
