// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include "pages.h"

#define BITS	64
#define LOOK	128		/* number of pages that a step of a search looks at */
#define SUMS	(PAGES_LIMIT / PAGE_SIZE / BITS / BITS)

static uint64_t *map;		/* a set bit is a free page */
/* a set bit is a word of the map with a free page: a search is short, however much is taken */
static uint64_t sums[SUMS];
static size_t num_pages, num_free, num_managed, num_kept;
static bool (*may_use)(void);		/* whether the caller may use the kept pages */
static size_t lowest;		/* lower bound: no page below this one is free */

static bool is_free(size_t page)
{
	return map[page / BITS] >> page % BITS & 1;
}

static void mark(size_t page, bool free)
{
	size_t word = page / BITS;
	uint64_t was = map[word];

	if (is_free(page) == free)
		return;
	map[word] ^= 1ull << page % BITS;
	if (!was || !map[word])
		sums[word / BITS] ^= 1ull << word % BITS;
	if (free) {
		num_free++;
		lowest = page < lowest ? page : lowest;
	} else {
		num_free--;
		lowest = page == lowest ? page + 1 : lowest;
	}
}

/* As mark() for `n` free pages from `first` on, a word at a time. */
static void take(size_t first, size_t n)
{
	size_t end = first + n, word, part;

	lowest = lowest == first ? end : lowest;
	num_free -= n;
	for (; first < end; first += part) {
		word = first / BITS;
		part = BITS - first % BITS;
		part = part < end - first ? part : end - first;
		map[word] &= ~(~0ull >> (BITS - part) << first % BITS);
		if (!map[word])
			sums[word / BITS] &= ~(1ull << word % BITS);
	}
}

static uint64_t limited(uint64_t top)
{
	return top < PAGES_LIMIT ? top : PAGES_LIMIT;
}

size_t pages_bitmap_size(uint64_t top)
{
	return (limited(top) / PAGE_SIZE + BITS - 1) / BITS * sizeof(uint64_t);
}

void pages_init(uint64_t *bitmap, uint64_t top)
{
	size_t i;

	map = bitmap;
	num_pages = limited(top) / PAGE_SIZE;
	num_free = num_managed = 0;
	lowest = num_pages;
	for (i = 0; i < SUMS; i++)
		sums[i] = 0;
	for (i = 0; i < pages_bitmap_size(top) / sizeof(uint64_t); i++)
		map[i] = 0;
}

void pages_release(uint64_t start, uint64_t end)
{
	size_t page = start / PAGE_SIZE + (start % PAGE_SIZE != 0), last = end / PAGE_SIZE;

	for (; page < last && page < num_pages; page++)
		mark(page, true);
	num_managed = num_free;
}

void pages_reserve(uint64_t start, uint64_t end)
{
	size_t page = start / PAGE_SIZE, last = end / PAGE_SIZE + (end % PAGE_SIZE != 0);

	for (; page < last && page < num_pages; page++)
		mark(page, false);
}

/* Returns the first free page from `page` on; `num_pages`: no page is free there. */
static size_t next_free(size_t page)
{
	size_t word = page / BITS, i;
	uint64_t bits = page < num_pages ? map[word] & ~0ull << page % BITS : 0;

	if (bits)
		return word * BITS + (size_t)__builtin_ctzll(bits);
	word++;
	bits = ~0ull << word % BITS;
	for (i = word / BITS; i < SUMS; i++, bits = ~0ull) {
		bits &= sums[i];
		if (!bits)
			continue;
		word = i * BITS + (size_t)__builtin_ctzll(bits);
		return word * BITS + (size_t)__builtin_ctzll(map[word]);
	}
	return num_pages;
}

static bool run_is_free(size_t first, size_t n, size_t *next)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (is_free(first + i))
			continue;
		*next = first + i + 1;
		return false;
	}
	return true;
}

void pages_keep(size_t n, bool (*may_use_kept)(void))
{
	num_kept = n;
	may_use = may_use_kept;
}

void pages_keep_more(int n)
{
	num_kept += (size_t)n;
}

static bool in_reach(size_t n)
{
	return n <= pages_unkept() || !may_use || may_use();
}

uint64_t pages_alloc(size_t n)
{
	size_t first, next = 0;

	if (!in_reach(n))
		return 0;
	lowest = next_free(lowest);
	first = lowest;
	while (n && n <= num_pages && first <= num_pages - n) {
		if (run_is_free(first, n, &next)) {
			take(first, n);
			return first * PAGE_SIZE;
		}
		first = next_free(next);
	}
	return 0;
}

uint64_t pages_alloc_step(size_t n, size_t *from)
{
	size_t end = *from + LOOK, next = 0;

	for (; *from < end && n && in_reach(n) && n <= num_pages && *from <= num_pages - n;
	     *from = next) {
		if (!run_is_free(*from, n, &next))
			continue;
		take(*from, n);
		return *from * PAGE_SIZE;
	}
	if (*from < end)
		*from = PAGES_SEARCHED;
	return 0;
}

void pages_free(uint64_t address, size_t n)
{
	size_t first = address / PAGE_SIZE, i;

	for (i = 0; i < n && first + i < num_pages; i++)
		mark(first + i, true);
}

size_t pages_available(void)
{
	return num_free;
}

size_t pages_unkept(void)
{
	return num_free > num_kept ? num_free - num_kept : 0;
}

size_t pages_managed(void)
{
	return num_managed;
}
