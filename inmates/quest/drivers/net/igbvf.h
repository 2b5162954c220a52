/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A virtual function of Intel's 82576, which QEMU calls igb (igbvf.c). The driver of the physical
 * function tells it its address by a mailbox, and lets its queues run.
 */
#ifndef QUEST_IGBVF_H
#define QUEST_IGBVF_H

#include "nicrings.h"

#define IGBVF_REGISTERS		0x4000

/* Descriptors in the advanced format: Intel 82576EB datasheet 2.61, 7.1.5 and 7.2.2. */
struct igbvf_rx {
	uint64_t address;
	uint32_t status;		/* 0 until it is done: the address of the header */
	uint16_t length, vlan;
};

struct igbvf_tx {
	uint64_t address;
	uint32_t command;
	uint32_t status;		/* the length of the frame, until it is done */
};

struct igbvf_memory NIC_MEMORY(struct igbvf_rx, struct igbvf_tx);

extern const struct nic_driver igbvf_driver;

#endif
