/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's page tables, which every address space shares, and CR3. */
#ifndef QUEST_PAGING_H
#define QUEST_PAGING_H

#include <stdbool.h>
#include <stdint.h>

/* An empty top table; turns PTE_NO_EXECUTE on if there is one. False: no page for the table. */
bool paging_init(bool no_execute);

/* Leave the boot page tables; kernel pages stay in the TLB from then on if `global`. */
void paging_activate(bool global);

/* Page table bits that this CPU has. */
uint64_t paging_usable(uint64_t flags);

/* The kernel's top table, and how often its entries have changed. */
uint64_t paging_kernel_root(void);
unsigned int paging_generation(void);

/* Make `root` the current one, if it is not. */
void paging_switch(uint64_t root);

/* Its entry in the kernel's tables has changed: the TLB shall not remember the old one. */
void paging_forget(uint64_t va);

#endif
