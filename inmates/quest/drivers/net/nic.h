/* SPDX-License-Identifier: GPL-2.0-only */
/* The network function of this machine or cell: where it is, its memory and its interrupt. */
#ifndef QUEST_NIC_H
#define QUEST_NIC_H

#include <stdbool.h>
#include "driver.h"

struct wait_queue;

/*
 * Finds the function, maps its registers and takes memory for its rings. Interrupts are off.
 * Returns NULL, or why it cannot be used.
 */
const char *nic_find(void);

/*
 * Starts the thread in which `work` runs on VCPU `vcpu`: after an interrupt, and after nic_poke().
 * The interrupt is masked until `work` has returned. The VCPU inherits the shortest period of the
 * threads in `served`. Returns false if there is no memory.
 */
bool nic_serve(void (*work)(void), int vcpu, const struct wait_queue *served);

/* Makes `work` run. From any context. */
void nic_poke(void);

/*
 * For `work`: starts the function, with an interrupt by message (MSI) unless `polled` or the
 * function cannot send one; nic_polled() says so. Then nothing runs `work` but nic_poke(). Returns
 * NULL, or why the function cannot be used.
 */
const char *nic_start(bool polled);
bool nic_polled(void);

/* Returns how many interrupts the function has raised. */
uint64_t nic_interrupts(void);

/* For `work` after nic_start(). */
struct nic *nic_device(void);

#endif
