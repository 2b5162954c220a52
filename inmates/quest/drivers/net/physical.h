/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The common part of drivers of Intel's physical functions, besides their rings: the reset, the
 * filter, addresses and the link. Registers: Intel 82574 datasheet, chapter 10; 82576EB datasheet
 * 2.61, chapter 8, where some of these addresses are aliases.
 */
#ifndef QUEST_PHYSICAL_H
#define QUEST_PHYSICAL_H

#include "nicrings.h"

#define PF_REGISTERS		0x20000		/* length in bytes of BAR 0 */
#define PF_CTRL			0x0000
#define PF_CTRL_STOP_DMA	(1u << 2)
#define PF_CTRL_SLU		(1u << 6)	/* sets the link up */
#define PF_CTRL_RST		(1u << 26)
#define PF_STATUS		0x0008
#define PF_STATUS_LU		(1u << 1)
#define PF_STATUS_DMA		(1u << 19)	/* DMA has not stopped */
#define PF_CTRL_EXT		0x0018
#define PF_ICR			0x00C0
#define PF_IMS			0x00D0
#define PF_IMC			0x00D8
#define PF_CAUSE_LINK		(1u << 2)
#define PF_RCTL			0x0100
#define PF_RCTL_EN		(1u << 1)
#define PF_RCTL_BROADCAST	(1u << 15)
#define PF_RCTL_STRIP		(1u << 26)	/* leaves out the checksum */
#define PF_TCTL			0x0400
#define PF_TCTL_EN		(1u << 1)
#define PF_TCTL_PAD		(1u << 3)
#define PF_RXCSUM		0x5000
#define PF_RFCTL		0x5008
#define PF_MTA			0x5200
#define PF_MTA_WORDS		128
#define PF_RAL			0x5400
#define PF_RAH			0x5404
#define PF_RAH_VALID		(1u << 31)
#define PF_MRQC			0x5818

/* Waits until a bit of register `reg` is as wanted. Returns false if it is not after 100 ms. */
bool physical_wait(struct nic *n, unsigned int reg, uint32_t bit, bool set);

/* Reads the address that the reset has loaded. Returns false if it is none of an interface. */
bool physical_address(struct nic *n);

/* Forgets groups, and lets one queue receive all frames, without more checks of their contents. */
void physical_filter(struct nic *n);

/* The functions of struct nic_driver with these names */
bool physical_reset(struct nic *n);
void physical_listen(struct nic *n, unsigned int entry, const uint8_t address[NIC_ADDRESS]);
void physical_acknowledge(struct nic *n);
bool physical_link(struct nic *n);

#endif
