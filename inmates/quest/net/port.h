/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the frames of the interface come from and go to. All calls are of the thread `net`. A row
 * for each kind: the function of this cell (nicport.c), the function which this cell shares with
 * others, and a function that another cell shares (shared.c).
 */
#ifndef QUEST_NET_PORT_H
#define QUEST_NET_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct port {
	/*
	 * Returns room for a frame of NIC_FRAME_MAX bytes; NULL: it has no room. send() sends
	 * its first `length` bytes.
	 */
	volatile uint8_t *(*room)(void);
	void (*send)(size_t length);
	/*
	 * Returns the length of the next frame; 0: no frame waits. *frame is NULL if it was not for
	 * this interface. release() gives it back. Its writer could still change it: copy it first.
	 */
	size_t (*receive)(const volatile uint8_t **frame);
	void (*release)(void);
	bool (*link)(void);
	/* Returns the Ethernet address of the interface; NULL: it is not known yet. */
	const uint8_t *(*address)(void);
	void (*tick)(void);		/* at least every 250 ms */
	void (*print)(void);		/* numbers of frames */
};

extern const struct port nic_port;

#endif
