/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's page tables, which are part of every address space, and CR3. */
#ifndef QUEST_PAGING_H
#define QUEST_PAGING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Creates an empty top table, and enables PTE_NO_EXECUTE if the CPU has it. Returns false if there
 * is no page.
 */
bool paging_init(bool no_execute);

/*
 * Switches from the boot page tables to those of the kernel. If `global`, the TLB keeps kernel
 * pages from now on.
 */
void paging_activate(bool global);

/* Returns those of `flags` that this CPU has. */
uint64_t paging_usable(uint64_t flags);

/* Return the kernel's top table, and how often its entries have changed. */
uint64_t paging_kernel_root(void);
unsigned int paging_generation(void);

/* Loads `root` into CR3 if CR3 has another value. */
void paging_switch(uint64_t root);

/*
 * Call it when the kernel's page table entry of `va` has changed. Removes the old entry from the
 * TLB.
 */
void paging_forget(uint64_t va);

#endif
