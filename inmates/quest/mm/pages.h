/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Physical pages: a bitmap over the usable memory (at most PAGES_LIMIT).
 * Pure: memory itself is not touched, only the bitmap.
 */
#ifndef QUEST_PAGES_H
#define QUEST_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE_SIZE	4096ul
#define PAGES_LIMIT	(4ul << 30)	/* bytes from 0 that are managed */

/* Bytes of bitmap that memory up to `top` (exclusive) needs. */
size_t pages_bitmap_size(uint64_t top);

/* All of [0, top) taken. `bitmap` holds pages_bitmap_size(top) bytes. */
void pages_init(uint64_t *bitmap, uint64_t top);

/* Give whole pages inside [start, end) to the pool / take every page that it touches. */
void pages_release(uint64_t start, uint64_t end);
void pages_reserve(uint64_t start, uint64_t end);

/* Keep `n` pages for callers of pages_alloc() of whom `may_use_kept` is true. NULL: for all. */
void pages_keep(size_t n, bool (*may_use_kept)(void));

/* `n` adjoining pages (n > 0). Returns the physical address, 0 when there are none for the caller. */
uint64_t pages_alloc(size_t n);
void pages_free(uint64_t address, size_t n);

/* Free pages: all, and those that are not kept. */
size_t pages_available(void);
size_t pages_unkept(void);
size_t pages_managed(void);

#endif
