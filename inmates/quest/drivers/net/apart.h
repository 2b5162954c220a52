/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's side of a driver that is a program (user/include/quest/nic.h), as a driver for
 * nic.h. Pure. Each word of the driver is loaded once into memory of the kernel, and then checked.
 * The kernel's own numbers are in struct nic: rx_next and tx_next count frames that it took and
 * put, and tx_oldest those that the driver has sent. All calls are of the thread `net`.
 */
#ifndef QUEST_APART_H
#define QUEST_APART_H

#include "../../user/include/quest/nic.h"
#include "driver.h"

/* The memory of struct nic, as whole pages */
struct apart_area {
	struct quest_nic_out out;
	struct quest_nic_in in;
};

extern const struct nic_driver apart_driver;

/* A driver begins: both rings are empty. It finds the addresses of listen() of those before it. */
void apart_begin(struct nic *n);

/* Takes note of the function's address. Returns whether the driver has said it. */
bool apart_started(struct nic *n);

#endif
