/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A network function that several cells share. The cell that has it is its owner, and switches
 * frames between the function, its own interface and the rings of the sharers. A sharer NAME has
 * two channels with the owner: NAME-rx, which the owner writes, and NAME-tx, which it reads. With a
 * ring for each sharer, none sees the frames of others, and a slow or dead one delays no other.
 */
#ifndef QUEST_NET_SHARED_H
#define QUEST_NET_SHARED_H

#include "port.h"

extern const struct port owner_port, sharer_port;

/*
 * Open the channels: of all sharers, and of sharer `name`. Return NULL, or why they cannot be used.
 * owner_start() also lets the function receive the sharers' frames, and is called after it has
 * been started.
 */
const char *owner_start(void);
const char *sharer_start(const char *name);

#endif
