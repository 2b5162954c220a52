// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <sys/mman.h>
#include "../quest/mm/pages.h"
#include "unit.h"

static uint64_t bitmap[8192];

static void set_up(uint64_t top)
{
	pages_init(bitmap, top);
	pages_release(0, top);
}

TEST(pages_bitmap_fits)
{
	CHECK(pages_bitmap_size(8 << 20) == 256);
	CHECK(pages_bitmap_size(4096) == 8);
	CHECK(pages_bitmap_size(UINT64_MAX) == 131072);
}

TEST(pages_alloc_lowest_first)
{
	set_up(1 << 20);
	pages_reserve(0, 8192);
	CHECK(pages_available() == 254);
	CHECK(pages_alloc(1) == 8192);
	CHECK(pages_alloc(4) == 3 * 4096);
	pages_free(8192, 1);
	CHECK(pages_alloc(2) == 7 * 4096);
	CHECK(pages_alloc(1) == 8192);
}

static bool may;

static bool may_use(void)
{
	return may;
}

TEST(pages_kept)
{
	set_up(65 * 4096);
	pages_reserve(0, 4096);
	pages_keep(16, may_use);
	may = false;
	CHECK(pages_unkept() == 48 && !pages_alloc(49));
	CHECK(pages_alloc(40) && pages_alloc(8) && !pages_alloc(1));
	CHECK(pages_available() == 16 && pages_unkept() == 0);
	may = true;
	CHECK(pages_alloc(10) && pages_available() == 6);
	may = false;
	CHECK(!pages_alloc(1) && pages_unkept() == 0);
	pages_free(4096, 12);
	CHECK(pages_unkept() == 2 && !pages_alloc(3) && pages_alloc(2));
	pages_keep(0, NULL);
	CHECK(pages_unkept() == 16 && pages_alloc(10));
}

TEST(pages_run_out)
{
	set_up(64 * 4096);
	pages_reserve(0, 1);
	CHECK(!pages_alloc(64));
	CHECK(!pages_alloc(0));
	CHECK(!pages_alloc(65));
	CHECK(pages_alloc(63) == 4096);
	CHECK(pages_available() == 0 && !pages_alloc(1));
	pages_free(4096, 63);
	CHECK(pages_available() == 63);
}

TEST(pages_partial_pages)
{
	pages_init(bitmap, 1 << 20);
	pages_release(100, 3 * 4096 + 100);
	CHECK(pages_available() == 2);
	pages_reserve(4096 + 5, 4096 + 6);
	CHECK(pages_available() == 1);
	pages_reserve(4096 + 5, 4096 + 6);
	CHECK(pages_available() == 1);
	CHECK(pages_alloc(1) == 8192);
}

TEST(pages_beyond_the_top)
{
	pages_init(bitmap, 1 << 20);
	pages_release(0, 1ull << 40);
	CHECK(pages_available() == 256);
	pages_reserve(1 << 20, 1ull << 40);
	CHECK(pages_available() == 256);
}

/* The search begins at a lower bound of the lowest free page, so each freed page is found again. */
TEST(pages_are_found_again)
{
	size_t i;

	pages_init(bitmap, 256 * 4096);
	pages_release(0, 256 * 4096);
	for (i = 0; i < 256; i++)
		CHECK(pages_alloc(1) == i * 4096);
	CHECK(!pages_alloc(1));
	for (i = 255; i > 0; i -= 5) {
		pages_free(i * 4096, 1);
		CHECK(pages_available() == 1 && pages_alloc(1) == i * 4096 && !pages_alloc(1));
	}
	pages_free(200 * 4096, 3);
	pages_free(100 * 4096, 1);
	CHECK(pages_alloc(2) == 200 * 4096 && pages_alloc(1) == 100 * 4096 &&
	      pages_alloc(1) == 202 * 4096 && !pages_alloc(1));
}

/* Every second page is taken, so the search looks at each. It does so in short steps. */
TEST(pages_are_searched_in_steps)
{
	const size_t all = 8192;
	size_t i, from = 0, before, steps = 0;

	pages_init(bitmap, all * 4096);
	pages_release(0, all * 4096);
	for (i = 0; i < all - 256; i += 2)
		pages_reserve(i * 4096, i * 4096 + 1);
	while (!pages_alloc_step(255, &from)) {
		CHECK(from != PAGES_SEARCHED && from <= ++steps * (512 + 255));
		if (from == PAGES_SEARCHED)
			return;
	}
	CHECK(steps >= all / (512 + 255) && from == all - 257);
	before = pages_available();
	from = 0;
	for (steps = 0; from != PAGES_SEARCHED && steps < all; steps++)
		CHECK(!pages_alloc_step(255, &from));
	CHECK(from == PAGES_SEARCHED && pages_available() == before);
	from = 0;
	CHECK(pages_alloc_step(1, &from) == 4096 && !pages_alloc_step(0, &from) &&
	      from == PAGES_SEARCHED);
}

/*
 * A program can free a low page where much memory is taken, again and again. The search for the
 * next page must not look at all that is taken: it may not touch the middle of the bitmap.
 */
TEST(pages_search_is_short)
{
	size_t size = pages_bitmap_size(PAGES_LIMIT);
	char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t low, high = PAGES_LIMIT - 4096;

	pages_init((uint64_t *)map, PAGES_LIMIT);
	pages_release(0, 2 * 4096);
	pages_release(high, PAGES_LIMIT);
	CHECK(!mprotect(map + 4096, size - 2 * 4096, PROT_NONE));
	low = pages_alloc(1);
	CHECK(low == 0 && pages_alloc(1) == 4096 && pages_alloc(1) == high && !pages_alloc(1));
	pages_free(low, 1);
	CHECK(pages_alloc(1) == low && !pages_alloc(1));
	munmap(map, size);
}

#define NUM	(2 * 4096 + 7)

static bool is_taken[NUM];

/* Returns the first of `n` pages in a row that are free; 0: there are none. */
static size_t first_of(size_t n)
{
	size_t at, k = 0;

	for (at = 0; at < NUM && k < n; at++)
		k = is_taken[at] ? 0 : k + 1;
	return k == n ? at - n : 0;
}

/* Compares the pool with an array. Pages are taken and freed at random. */
TEST(pages_are_as_an_array)
{
	size_t i, at, n;

	set_up(NUM * 4096);
	pages_reserve(0, 4096);
	is_taken[0] = true;
	srand(1);
	for (i = 0; i < 6000; i++) {
		n = 1 + (rand() % 3 ? 0 : rand() % 40);
		if (rand() % 9 < (i < 3000 ? 7 : 3)) {
			at = first_of(n);
			CHECK(pages_alloc(n) == at * 4096);
			while (at && n)
				is_taken[at + --n] = true;
		} else {
			at = 1 + rand() % (NUM - 1);
			pages_free(at * 4096, 1);
			is_taken[at] = false;
		}
	}
}
