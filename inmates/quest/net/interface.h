/* SPDX-License-Identifier: GPL-2.0-only */
/* The interface of lwIP to the network function. All calls are of the thread `net`. */
#ifndef QUEST_NET_INTERFACE_H
#define QUEST_NET_INTERFACE_H

#include <stdbool.h>
#include <stdint.h>
#include "word.h"

/* Starts lwIP with the function, which has been started, and the addresses of `wish`. */
void interface_start(const struct net_wish *wish);

/*
 * Gives at most `most` received frames to lwIP. Returns whether there may be more.
 */
bool interface_take(unsigned int most);

/* Notes whether the link is up, and does what is due by time. */
void interface_tick(void);

/* Number of frames that were lost since lwIP had no memory for them. */
uint64_t interface_lost(void);

#endif
