/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames in the two rings (channels) between the cell that owns a network function and a cell that
 * shares it. Pure: accesses only the ring that it is given. Each word that the other end could
 * change is loaded once, into memory of this cell, and then checked.
 */
#ifndef QUEST_NET_SHARE_H
#define QUEST_NET_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <qv/end.h>
#include "../drivers/net/driver.h"

/* Largest number of cells that share a function: a cell has 16 channels, two for each of them. */
#define SHARE_MAX	7

/* An item of such a ring. The owner of the function says its state in each item. */
struct share_item {
	uint16_t length;		/* of the frame; 0: there is no frame, only the state */
	uint8_t link;			/* 1: up */
	uint8_t unused;
	uint8_t address[NIC_ADDRESS];	/* of the sharer, from the owner */
	uint8_t unused2[6];
	uint8_t frame[NIC_FRAME_MAX + 6];
};

enum share_result { SHARE_BAD = -1, SHARE_NONE, SHARE_TAKEN };

/* Numbers of one end, since the start */
struct share_counts {
	uint64_t frames, bad;		/* taken; dropped, since no such frame can be */
	uint64_t lost;			/* overwritten before this end took them */
	uint64_t sent, full;		/* put; not put, since the ring was full */
};

/* Returns whether the channel has items of this size. */
bool share_fits(const struct qv_end *end);

/* Puts a frame of `length` bytes with the words of `head`. Returns false if it has no room. */
bool share_put(struct qv_end *end, const struct share_item *head, const volatile uint8_t *frame,
	       size_t length, struct share_counts *counts);

/*
 * Copies the next item to *copy. Its frame has a length that is possible. SHARE_BAD: it had none,
 * and is dropped. SHARE_NONE: no item waits, or the other end has just begun another life.
 */
enum share_result share_take(struct qv_end *end, struct share_item *copy,
			     struct share_counts *counts);

/* Sets `address` to that of sharer `n`, made of the address of the function. */
void share_address(const uint8_t function[NIC_ADDRESS], unsigned int n,
		   uint8_t address[NIC_ADDRESS]);

#endif
