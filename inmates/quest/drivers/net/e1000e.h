/* SPDX-License-Identifier: GPL-2.0-only */
/* Intel 82574L, which QEMU calls e1000e (e1000e.c). */
#ifndef QUEST_E1000E_H
#define QUEST_E1000E_H

#include "nicrings.h"

/* Descriptors in the legacy format: Intel 82574 datasheet, 7.1.4 and 7.2.4. */
struct e1000e_rx {
	uint64_t address;
	uint16_t length, checksum;
	uint8_t status, errors;
	uint16_t special;
};

struct e1000e_tx {
	uint64_t address;
	uint16_t length;
	uint8_t checksum_offset, command, status, checksum_start;
	uint16_t special;
};

struct e1000e_memory NIC_MEMORY(struct e1000e_rx, struct e1000e_tx);

extern const struct nic_driver e1000e_driver;

#endif
