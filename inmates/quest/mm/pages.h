/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pool of physical pages: a bitmap over usable memory (PAGES_LIMIT at most). Pure: accesses
 * only the bitmap.
 */
#ifndef QUEST_PAGES_H
#define QUEST_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE_SIZE	4096ul
/* number of bytes of memory, from address 0 on, that are managed */
#define PAGES_LIMIT	(4ul << 30)

/* Returns the size in bytes of a bitmap for memory up to `top` (exclusive). */
size_t pages_bitmap_size(uint64_t top);

/* Marks all of [0, top) as taken. `bitmap` has pages_bitmap_size(top) bytes. */
void pages_init(uint64_t *bitmap, uint64_t top);

/*
 * pages_release() adds all whole pages within [start, end) to the pool. pages_reserve() removes
 * every page that overlaps the range.
 */
void pages_release(uint64_t start, uint64_t end);
void pages_reserve(uint64_t start, uint64_t end);

/*
 * Keeps `n` pages for some callers of pages_alloc(): those for which `may_use_kept` returns true
 * (NULL: all callers).
 */
void pages_keep(size_t n, bool (*may_use_kept)(void));

/* Keeps `n` pages more; negative: fewer. */
void pages_keep_more(int n);

/*
 * Allocates `n` contiguous pages (n > 0). Returns their physical address, or 0 if the caller cannot
 * have so many.
 */
uint64_t pages_alloc(size_t n);

/*
 * The same in steps, since the search takes long where free pages are scattered. Looks at some
 * hundred pages from number `*from` on, at first 0, and moves it. Returns 0 if there is no room
 * among them; then, with PAGES_SEARCHED in `*from`, the caller cannot have so many.
 */
uint64_t pages_alloc_step(size_t n, size_t *from);
#define PAGES_SEARCHED	SIZE_MAX

void pages_free(uint64_t address, size_t n);

/* Return the number of all free pages, and the number of free pages that are not kept. */
size_t pages_available(void);
size_t pages_unkept(void);
size_t pages_managed(void);

#endif
