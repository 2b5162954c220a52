/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rings of descriptors in the advanced format, which functions of Intel's 82576 have: its datasheet
 * 2.61, 7.1.5 and 7.2.2. The registers of queue 0 of the physical function have these addresses as
 * aliases (8.1.3).
 */
#ifndef QUEST_ADVANCED_H
#define QUEST_ADVANCED_H

#include "nicrings.h"

struct advanced_rx {
	uint64_t address;
	uint32_t status;		/* 0 until it is done: the address of the header */
	uint16_t length, vlan;
};

struct advanced_tx {
	uint64_t address;
	uint32_t command;
	uint32_t status;		/* the length of the frame, until it is done */
};

struct advanced_memory NIC_MEMORY(struct advanced_rx, struct advanced_tx);

/* Registers of a ring, besides those of nicrings.h */
#define ADVANCED_SPLIT		0x0C		/* received frames only: the kind of descriptors */
#define ADVANCED_SPLIT_ONE	(1u << 25 | 2u)	/* advanced, one buffer of 2 KiB */
#define ADVANCED_CONTROL	0x28
#define ADVANCED_ENABLE		(1u << 25)

/* Bits of descriptors */
#define ADVANCED_DONE		(1u << 0)
#define ADVANCED_RX_END		(1u << 1)	/* the last part of a frame */
#define ADVANCED_RX_ERROR	(1u << 31)
/* data that are a whole frame, whose checksum the function appends, and that it says are sent */
#define ADVANCED_TX_FRAME	(3u << 20 | 1u << 29 | 1u << 24 | 1u << 25 | 1u << 27)
#define ADVANCED_TX_LENGTH	14		/* shift of the length in `status` */

/* Gives both rings to the function, and lets its queues use them. nic_begin() comes after it. */
void advanced_start(struct nic *n);

extern const struct nic_rings advanced_rings;

#endif
