/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stacks of the kernel's threads, in a part of its map of their own: below each
 * lies a guard in which nothing is mapped, so that a stack that is exhausted
 * meets it and nobody else's memory.
 */
#ifndef QUEST_KSTACK_H
#define QUEST_KSTACK_H

#include <stdbool.h>
#include <stdint.h>

#define KSTACK_BASE	0x200000000000ull	/* 32 TiB: beyond all memory, below the programs */
#define KSTACK_BYTES	(16ull << 10)
#define KSTACK_GUARD	(16ull << 10)

/* The tables for stacks 0 to n - 1, once, before there is any address space of a program. False: no memory. */
bool kstacks_init(unsigned int n);

/* Stack `n`, which is not there: the lowest address of its KSTACK_BYTES, zeroed nowhere. 0: no memory. */
uint64_t kstack_make(unsigned int n);

/* Nobody is on stack `n` any more. */
void kstack_drop(unsigned int n);

/* Whose guard `va` lies in; -1: in none. */
int kstack_guarded(uint64_t va);

#endif
