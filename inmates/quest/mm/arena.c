// SPDX-License-Identifier: GPL-2.0-only
#include "arena.h"
#include "pages.h"

#define BITS	64

static uint64_t used[ARENA_PAGES / BITS];	/* a set bit is a page in use */
static uint64_t first;				/* physical address of page 0 */
static size_t num_pages, num_free;
static size_t next;				/* word at which the next search begins */

void arena_init(uint64_t start, uint64_t bytes)
{
	size_t i;

	first = start;
	num_pages = bytes / PAGE_SIZE < ARENA_PAGES ? bytes / PAGE_SIZE : ARENA_PAGES;
	num_free = num_pages;
	next = 0;
	for (i = 0; i < ARENA_PAGES / BITS; i++)
		used[i] = 0;
	for (i = num_pages; i < ARENA_PAGES; i++)
		used[i / BITS] |= 1ull << i % BITS;
}

uint64_t arena_alloc(void)
{
	unsigned int bit;

	if (!num_free)
		return 0;
	while (!~used[next])
		next = (next + 1) % (ARENA_PAGES / BITS);
	bit = (unsigned int)__builtin_ctzll(~used[next]);
	used[next] |= 1ull << bit;
	num_free--;
	return first + (next * BITS + bit) * PAGE_SIZE;
}

bool arena_has(uint64_t page, uint64_t *at)
{
	*at = page - first;
	return page >= first && *at < num_pages * PAGE_SIZE;
}

void arena_free(uint64_t page)
{
	size_t i = (page - first) / PAGE_SIZE;

	used[i / BITS] &= ~(1ull << i % BITS);
	num_free++;
}

size_t arena_available(void)
{
	return num_free;
}

size_t arena_managed(void)
{
	return num_pages;
}
