/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The network: one interface, and lwIP. All of it runs in the thread `net` on an I/O VCPU, so the
 * packets of other machines cost the cell at most that VCPU's budget.
 */
#ifndef QUEST_NET_H
#define QUEST_NET_H

#include <inmate/boot.h>

/*
 * Starts the network, if the command line has a word net= (word.h). Prints why it cannot. Returns
 * false if there is no memory for its threads. Interrupts are off.
 */
bool net_start(const struct boot_info *boot);

/* The doorbell has rung: the function may be this cell's now. From any context. */
void net_look(void);

/* Prints the interface: its addresses, its link, numbers of frames. */
void net_print(void);

#endif
