/* SPDX-License-Identifier: GPL-2.0-only */
/* The physical function of Intel's 82576, which QEMU calls igb (igb.c). */
#ifndef QUEST_IGB_H
#define QUEST_IGB_H

#include "driver.h"

extern const struct nic_driver igb_driver;

#endif
