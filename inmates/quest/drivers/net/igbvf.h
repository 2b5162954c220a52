/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A virtual function of Intel's 82576, which QEMU calls igb (igbvf.c). The driver of the physical
 * function tells it its address by a mailbox, and lets its queues run.
 */
#ifndef QUEST_IGBVF_H
#define QUEST_IGBVF_H

#include "driver.h"

#define IGBVF_REGISTERS		0x4000

extern const struct nic_driver igbvf_driver;

#endif
