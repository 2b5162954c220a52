/* SPDX-License-Identifier: GPL-2.0-only */
/* The network function of this machine or cell: where it is, its memory and its interrupt. */
#ifndef QUEST_NIC_H
#define QUEST_NIC_H

#include <stdbool.h>
#include "driver.h"

struct wait_queue;

/*
 * Finds the function, maps its registers and takes memory for its rings. `apart`: a program will
 * drive it (kernel/userdriver.h), and this driver exchanges frames with that program. Interrupts
 * are off. Returns NULL, or why it cannot be used.
 */
const char *nic_find(bool apart);

/*
 * Returns whether another cell has the function, and this cell may get it. Until then nothing may
 * touch its registers. For `work`, after nic_find()
 */
bool nic_waits(void);

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

/* For `work`: forgets the causes of interrupts so far. Whatever came before it is in the rings. */
void nic_acknowledge(void);

/* For `work` after nic_start(). */
struct nic *nic_device(void);

/* Returns whether the function can have more addresses than its own. */
bool nic_listens(void);

/* The parts of the function for a program: physical addresses, and lengths in bytes. */
struct nic_parts {
	uint64_t registers, registers_size;
	uint64_t memory, memory_size;	/* for DMA */
	struct apart_area *area;
	uint16_t vendor, device;
};

/* Return whether nic_find() was called for a program, and the parts for it. */
bool nic_is_apart(void);
struct nic_parts nic_parts(void);

/*
 * Lets a program begin: ends the DMA of the program before it, resets the function, and lets it do
 * DMA and interrupt, unless `polled`. Sleeps some ms. Returns NULL, or why it cannot be used.
 */
const char *nic_hand_over(bool polled);

/* The program has ended: the function neither does DMA nor interrupts. */
void nic_withdraw(void);

/* While the program works, interrupts stay masked. Interrupts are off. */
void nic_set_busy(bool busy);

/* Makes the threads in `q` run, as an interrupt of the function does: on its VCPU. */
void nic_wake(struct wait_queue *q);

#endif
