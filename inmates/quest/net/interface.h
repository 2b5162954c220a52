/* SPDX-License-Identifier: GPL-2.0-only */
/* The interface of lwIP to the network function. All calls are of the thread `net`. */
#ifndef QUEST_NET_INTERFACE_H
#define QUEST_NET_INTERFACE_H

#include <stdbool.h>
#include <stdint.h>
#include "port.h"
#include "word.h"

/*
 * Starts lwIP with `port`, which knows its address, and the addresses and the name of `wish`.
 * Returns false if there is no memory.
 */
bool interface_start(const struct port *port, const struct net_wish *wish);

/* The addresses that the interface has now. */
struct interface_now {
	uint8_t address[4], gateway[4];	/* 0.0.0.0: none yet; no gateway */
	unsigned int prefix;
	uint8_t server[4];		/* of DHCP: from where they are; 0.0.0.0: not by DHCP */
	uint32_t lease_s;		/* for so long, from the last answer of the server on */
};

struct interface_now interface_now(void);

/*
 * Gives at most `most` received frames to lwIP. Returns whether there may be more.
 */
bool interface_take(unsigned int most);

/* Notes whether the link is up, and does what is due by time. */
void interface_tick(void);

/* Number of frames that were lost since lwIP had no memory for them. */
uint64_t interface_lost(void);

#endif
