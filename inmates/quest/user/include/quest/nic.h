/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A network driver that runs as a program (Documentation/how-to/network.md, `apart`). The kernel
 * and the driver exchange frames by two parts of memory: each writes one of them, and only reads
 * the other. Numbers of frames count from 0, and wrap. The kernel ends a driver that says something
 * impossible.
 */
#ifndef QUEST_USER_NIC_H
#define QUEST_USER_NIC_H

#include <stdint.h>

#define QUEST_NIC_FRAME		1514	/* longest frame in bytes, without its checksum */
#define QUEST_NIC_SENT		32	/* frames that wait until they are sent; a power of two */
#define QUEST_NIC_RECEIVED	64	/* frames that wait for the kernel; a power of two */
#define QUEST_NIC_LISTEN	7	/* more addresses of Ethernet */

/* Where a frame is: number n is in slot n modulo the number of slots. */
struct quest_nic_slot {
	uint32_t length;
	uint8_t frame[QUEST_NIC_FRAME + 18];
};

/* The kernel writes it. */
struct quest_nic_out {
	uint32_t put;			/* frames to be sent, so far */
	uint32_t taken;			/* received frames that the kernel has taken, so far */
	uint32_t listening;		/* the first ones of `listen` */
	uint8_t listen[QUEST_NIC_LISTEN][6];	/* receive frames for these, too */
	uint8_t pad[4096 - 12 - 6 * QUEST_NIC_LISTEN];
	struct quest_nic_slot slots[QUEST_NIC_SENT];
};

/* The driver writes it. */
struct quest_nic_in {
	uint32_t put;			/* received frames, so far */
	uint32_t taken;			/* frames that were sent, so far */
	uint32_t started;		/* 1: `address` is that of the function */
	uint32_t link;			/* 1: up */
	uint32_t bad;			/* frames that were dropped: errors, lengths */
	uint8_t address[6];
	uint8_t pad[4096 - 26];
	struct quest_nic_slot slots[QUEST_NIC_RECEIVED];
};

/* The memory that driver_open() maps, as addresses in the program. */
struct quest_nic {
	uint64_t registers, registers_size;	/* BAR 0, not cached */
	uint64_t memory, memory_size;		/* for DMA, contiguous */
	uint64_t bus;				/* the address of `memory` for the function */
	uint64_t out, in;			/* struct quest_nic_out, struct quest_nic_in */
	uint32_t vendor, device;
	uint32_t polled;			/* 1: the function does not interrupt */
	uint32_t reserved;
};

#endif
