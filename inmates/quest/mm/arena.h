/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The program arena: memory from which the data pages of programs come, as long as there are free
 * ones, and which other cells may read. So a program moves without a copy through a channel: the
 * other cell copies its pages (migration/). The kernel has no other data in it. Pure bookkeeping.
 * Interrupts are off in every call.
 */
#ifndef QUEST_ARENA_H
#define QUEST_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARENA_PAGES	8192		/* largest number of pages that are used: 32 MiB */

/* Makes `bytes` bytes of memory at physical `start`, a multiple of PAGE_SIZE, the arena. */
void arena_init(uint64_t start, uint64_t bytes);

/* Returns the physical address of a free page, from now on in use; 0: the arena is full. */
uint64_t arena_alloc(void);
void arena_free(uint64_t page);

/* Returns whether the page at physical `page` is in the arena, and its offset there in *at. */
bool arena_has(uint64_t page, uint64_t *at);

/* Return the number of free pages, and of all pages. */
size_t arena_available(void);
size_t arena_managed(void);

#endif
