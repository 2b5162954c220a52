/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel stacks of threads, in their own part of the kernel's address range. Below each stack is a
 * guard, in which no page is mapped. So a stack overflow faults there, and does not overwrite other
 * memory.
 */
#ifndef QUEST_KSTACK_H
#define QUEST_KSTACK_H

#include <stdbool.h>
#include <stdint.h>

/* address of the stacks: 32 TiB, above all memory and below the programs */
#define KSTACK_BASE	0x200000000000ull
#define KSTACK_BYTES	(16ull << 10)
#define KSTACK_GUARD	(16ull << 10)

/*
 * Creates the page tables for stacks 0 to n - 1. Call it once, before any program's address space
 * exists. Returns false if there is no memory.
 */
bool kstacks_init(unsigned int n);

/*
 * Maps stack `n`, which is not mapped. Returns its lowest address; its KSTACK_BYTES are not zeroed.
 * Returns 0 if there is no memory.
 */
uint64_t kstack_make(unsigned int n);

/* Unmaps stack `n`. No CPU may be using it. */
void kstack_drop(unsigned int n);

/* Returns the number of the stack in whose guard `va` lies; -1: none. */
int kstack_guarded(uint64_t va);

#endif
