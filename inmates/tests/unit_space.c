// SPDX-License-Identifier: GPL-2.0-only
/* Tests address spaces and copies, on memory whose address serves as the physical address. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "../quest/mm/kstack.h"
#include "../quest/mm/paging.h"
#include "../quest/mm/space.h"
#include "../quest/mm/usercopy.h"
#include "unit.h"

/* an address of the host, below the memory of AddressSanitizer */
#define MEMORY		0x10000000ul
#define PAGES		128ul
#define AT		USER_IMAGE

static struct space s;
static uint64_t kernel_root, switched_to;
static unsigned int generation, forgotten;

/* Functions in place of paging.c, which need no CPU. */
uint64_t paging_usable(uint64_t flags)
{
	return flags;
}

uint64_t paging_kernel_root(void)
{
	return kernel_root;
}

unsigned int paging_generation(void)
{
	return generation;
}

void paging_forget(uint64_t va)
{
	(void)va;
	forgotten++;
}

void paging_switch(uint64_t root)
{
	switched_to = root;
}

static void fresh(size_t pages)
{
	static uint64_t *bitmap;
	static void *memory;

	if (!memory)
		memory = mmap((void *)MEMORY, PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (memory != (void *)MEMORY)
		abort();
	memset(memory, 0xA5, PAGES * PAGE_SIZE);
	free(bitmap);
	bitmap = malloc(pages_bitmap_size(MEMORY + PAGES * PAGE_SIZE));
	pages_init(bitmap, MEMORY + PAGES * PAGE_SIZE);
	pages_release(MEMORY, MEMORY + pages * PAGE_SIZE);
	kernel_root = table_new();
	table_at(kernel_root)[0] = 0x1234003;
	generation = 0;
	space_set_hooks(NULL, NULL);
	s = (struct space){ 0 };
}

TEST(space_gives_all_back)
{
	size_t before;

	fresh(PAGES);
	before = pages_available();
	CHECK(space_create(&s) && space_map(&s, AT, AT + 3 * PAGE_SIZE, USER_DATA));
	CHECK(space_map(&s, space_stack_top(0) - STACK_BYTES, space_stack_top(0), USER_DATA));
	CHECK(s.pages == 3 + STACK_BYTES / PAGE_SIZE && pages_available() < before);
	space_destroy(&s);
	CHECK(pages_available() == before && !s.root);
	space_destroy(&s);
	CHECK(pages_available() == before);
}

TEST(space_has_the_kernel_in_it)
{
	fresh(PAGES);
	CHECK(space_create(&s) && table_at(s.root)[0] == 0x1234003 &&
	      !table_at(s.root)[USER_BASE >> 39]);
	table_at(kernel_root)[1] = 0x5678003;
	generation++;
	space_activate(&s);
	CHECK(table_at(s.root)[1] == 0x5678003 && switched_to == s.root);
}

TEST(space_pages_are_zero)
{
	uint64_t at;
	size_t i;

	fresh(PAGES);
	CHECK(space_create(&s) && space_map(&s, AT, AT + PAGE_SIZE, USER_READ));
	at = space_translate(&s, AT, SPACE_READ);
	for (i = 0; i < PAGE_SIZE; i++)
		CHECK(!((char *)at)[i]);
}

TEST(space_maps_nothing_twice_nor_elsewhere)
{
	size_t before;

	fresh(PAGES);
	CHECK(space_create(&s) && space_map(&s, AT + PAGE_SIZE, AT + 2 * PAGE_SIZE, USER_DATA));
	before = s.pages;
	CHECK(!space_map(&s, AT, AT + 3 * PAGE_SIZE, USER_DATA) && s.pages == before);
	CHECK(!space_translate(&s, AT, SPACE_READ));
	CHECK(!space_map(&s, USER_BASE - PAGE_SIZE, USER_BASE, USER_DATA));
	CHECK(!space_map(&s, USER_END, USER_END + PAGE_SIZE, USER_DATA));
	CHECK(!space_map(&s, AT + 8, AT + PAGE_SIZE + 8, USER_DATA));
	CHECK(!space_map(&s, AT + PAGE_SIZE, AT, USER_DATA));
	CHECK(s.pages == before);
}

TEST(space_out_of_memory_changes_nothing)
{
	size_t left;

	for (left = 1; left < 24; left++) {
		size_t before;

		fresh(left + 1);
		before = pages_available();
		if (space_create(&s) && space_map(&s, AT, AT + 16 * PAGE_SIZE, USER_DATA))
			CHECK(left >= 20 && s.pages == 16);
		else
			CHECK(left < 20 && !s.pages);
		space_destroy(&s);
		CHECK(pages_available() == before);
	}
}

TEST(space_rights)
{
	fresh(PAGES);
	CHECK(space_create(&s) && space_map(&s, AT, AT + PAGE_SIZE, USER_CODE) &&
	      space_map(&s, AT + PAGE_SIZE, AT + 2 * PAGE_SIZE, USER_READ) &&
	      space_map(&s, AT + 2 * PAGE_SIZE, AT + 3 * PAGE_SIZE, USER_DATA));
	CHECK(space_translate(&s, AT, SPACE_EXECUTE) && !space_translate(&s, AT, SPACE_WRITE));
	CHECK(space_translate(&s, AT + PAGE_SIZE, SPACE_READ) &&
	      !space_translate(&s, AT + PAGE_SIZE, SPACE_WRITE) &&
	      !space_translate(&s, AT + PAGE_SIZE, SPACE_EXECUTE));
	CHECK(space_translate(&s, AT + 2 * PAGE_SIZE + 5, SPACE_WRITE) % PAGE_SIZE == 5 &&
	      !space_translate(&s, AT + 2 * PAGE_SIZE, SPACE_EXECUTE));
	CHECK(!space_translate(&s, 0x1000, SPACE_READ) && !space_translate(&s, ~0ull, SPACE_READ));
	CHECK(!space_translate(&s, AT + (1ull << 48), SPACE_READ));
	CHECK(!strcmp(space_explain(&s, 0, SPACE_READ), "a null pointer"));
	CHECK(strstr(space_explain(&s, 0x100000, SPACE_WRITE), "kernel"));
	CHECK(strstr(space_explain(&s, space_stack_top(2) - STACK_BYTES - 8, SPACE_WRITE),
		     "exhausted"));
	CHECK(!strcmp(space_explain(&s, AT, SPACE_WRITE), "read-only"));
	CHECK(strstr(space_explain(&s, AT + 2 * PAGE_SIZE, SPACE_EXECUTE), "data"));
}

TEST(space_copy_is_a_copy)
{
	struct space t;
	size_t before;
	char c = 'x';

	fresh(PAGES);
	CHECK(space_create(&s) && space_map(&s, AT, AT + 2 * PAGE_SIZE, USER_DATA) &&
	      space_map(&s, space_stack_top(3) - STACK_BYTES, space_stack_top(3), USER_DATA));
	CHECK(copy_to_user(&s, AT + PAGE_SIZE - 1, "ab", 2));
	before = pages_available();
	CHECK(space_copy(&t, &s) && t.pages == s.pages);
	CHECK(copy_to_user(&s, AT + PAGE_SIZE, &c, 1) &&
	      copy_from_user(&t, &c, AT + PAGE_SIZE, 1) && c == 'b');
	CHECK(!space_translate(&t, AT, SPACE_EXECUTE));
	space_destroy(&t);
	CHECK(pages_available() == before);
	/* try it again with less and less memory */
	while (pages_available() > 1) {
		size_t had = pages_available();

		if (space_copy(&t, &s))
			space_destroy(&t);
		CHECK(pages_available() == had);
		(void)pages_alloc(1);
	}
}

TEST(space_brk)
{
	fresh(PAGES);
	CHECK(space_create(&s) && space_map(&s, AT, AT + 0x2000, USER_DATA));
	s.heap = s.brk = AT + 0x1800;
	/* the heap still ends on the image's last page */
	CHECK(space_move_brk(&s, 0x100) && s.pages == 2);
	CHECK(space_move_brk(&s, 0x1000) && s.pages == 3 &&
	      space_translate(&s, AT + 0x2000, SPACE_WRITE));
	CHECK(!space_move_brk(&s, -0x2000) && s.brk == AT + 0x2900);
	/* the last page is still half used */
	CHECK(space_move_brk(&s, -0x800) && s.pages == 3 &&
	      space_translate(&s, AT + 0x2000, SPACE_WRITE));
	CHECK(space_move_brk(&s, -0x900) && s.pages == 2 && s.brk == s.heap);
	/* the image keeps all its pages */
	CHECK(space_translate(&s, AT + 0x1000, SPACE_WRITE) &&
	      !space_translate(&s, AT + 0x2000, SPACE_READ));
	CHECK(!space_move_brk(&s, INT64_MAX) && !space_move_brk(&s, INT64_MIN) &&
	      !space_move_brk(&s, -1));
	CHECK(!space_move_brk(&s, (int64_t)(PAGES * PAGE_SIZE)) && s.pages == 2 && s.brk == s.heap);
}

TEST(usercopy_stops_at_what_is_not_the_programs)
{
	char data[64], kernel[] = "kernel";

	fresh(PAGES);
	CHECK(space_create(&s) && space_map(&s, AT, AT + PAGE_SIZE, USER_DATA) &&
	      space_map(&s, AT + PAGE_SIZE, AT + 2 * PAGE_SIZE, USER_READ));
	CHECK(user_writable(&s, AT + PAGE_SIZE - 6, 6) &&
	      !user_writable(&s, AT + PAGE_SIZE - 6, 7));
	CHECK(user_writable(&s, AT, 0) && !user_writable(&s, MEMORY, 8));
	CHECK(copy_to_user(&s, AT + PAGE_SIZE - 6, kernel, 6) &&
	      copy_from_user(&s, data, AT + PAGE_SIZE - 6, 6));
	CHECK(!memcmp(data, kernel, 6));
	CHECK(!copy_to_user(&s, AT + PAGE_SIZE - 6, kernel, 7));
	CHECK(copy_from_user(&s, data, AT + 2 * PAGE_SIZE - 8, 8) &&
	      !copy_from_user(&s, data, AT + 2 * PAGE_SIZE - 8, 9));
	CHECK(!copy_from_user(&s, data, MEMORY, 8) && !copy_to_user(&s, MEMORY, data, 8));
	CHECK(!copy_from_user(&s, data, UINT64_MAX - 3, 8) && copy_from_user(&s, data, 0, 0));
}

TEST(usercopy_strings)
{
	char name[8];

	fresh(PAGES);
	CHECK(space_create(&s) && space_map(&s, AT, AT + PAGE_SIZE, USER_DATA));
	CHECK(copy_to_user(&s, AT, "1234567", 8));
	CHECK(copy_string_from_user(&s, name, AT, 8) == 7 && !strcmp(name, "1234567"));
	CHECK(copy_string_from_user(&s, name, AT, 7) == -2);
	CHECK(copy_to_user(&s, AT + PAGE_SIZE - 3, "abc", 3) &&
	      copy_string_from_user(&s, name, AT + PAGE_SIZE - 3, 8) == -1);
	CHECK(copy_string_from_user(&s, name, 0x100000, 8) == -1);
}

/*
 * A freed page may still be in the TLB. If another program got the CPU before a flush, it could
 * access the page.
 */
static size_t known;			/* free pages at the last flush or pause */
static unsigned int flushes;

static void note_flush(void)
{
	known = pages_available();
	flushes++;
}

static void note_pause(void)
{
	CHECK(pages_available() <= known);
	known = pages_available();
}

TEST(space_flushes_before_others_run)
{
	fresh(PAGES);
	CHECK(space_create(&s));
	s.heap = s.brk = AT;
	space_set_hooks(note_pause, note_flush);
	known = pages_available();
	/* there is too little memory, so the call maps pages and frees them again */
	CHECK(!space_move_brk(&s, (int64_t)(PAGES * PAGE_SIZE)));
	CHECK(flushes && pages_available() == known && !s.pages);
	CHECK(space_move_brk(&s, 100 * PAGE_SIZE));
	flushes = 0;
	CHECK(space_move_brk(&s, -100 * (int64_t)PAGE_SIZE));
	/* flushes come after 64 pages, and at the end */
	CHECK(flushes == 2 && pages_available() == known);
	space_set_hooks(NULL, NULL);
}

static bool there(uint64_t va)
{
	return *table_find(kernel_root, va) & PTE_PRESENT;
}

TEST(kstack_has_a_guard_below)
{
	size_t before;
	uint64_t at;

	fresh(PAGES);
	CHECK(kstacks_init(320));
	before = pages_available();
	CHECK(kstack_make(4) && kstack_make(6));
	at = kstack_make(5);
	CHECK(at != 0);
	CHECK(there(at) && there(at + KSTACK_BYTES - 1) && !there(at - 1) &&
	      !there(at - KSTACK_GUARD) && !there(at + KSTACK_BYTES));
	CHECK(there(at - KSTACK_GUARD - 1));	/* the next lower stack ends here */
	CHECK(!(*table_find(kernel_root, at) & PTE_USER) &&
	      *table_find(kernel_root, at) & PTE_NO_EXECUTE);
	CHECK(kstack_guarded(at) == -1 && kstack_guarded(at - 1) == 5 &&
	      kstack_guarded(at - KSTACK_GUARD) == 5);
	CHECK(kstack_guarded(at - KSTACK_GUARD - 1) == -1 &&
	      kstack_guarded(at + KSTACK_BYTES) == 6);
	CHECK(kstack_guarded(0) == -1 && kstack_guarded(KSTACK_BASE - 1) == -1 &&
	      kstack_guarded(~0ull) == -1);
	forgotten = 0;
	kstack_drop(5);
	CHECK(!there(at) && forgotten == KSTACK_BYTES / PAGE_SIZE && there(at - KSTACK_GUARD - 1));
	kstack_drop(4);
	kstack_drop(6);
	CHECK(pages_available() == before);
}

TEST(kstack_out_of_memory_takes_nothing)
{
	size_t left;

	fresh(PAGES);
	CHECK(kstacks_init(320));
	while (pages_available() >= KSTACK_BYTES / PAGE_SIZE)
		(void)pages_alloc(1);
	for (left = pages_available(); left; left--) {
		CHECK(!kstack_make(7) && pages_available() == left);
		(void)pages_alloc(1);
	}
	fresh(5);
	CHECK(!kstacks_init(320));
}

static unsigned int pauses;

static void count_pause(void)
{
	pauses++;
}

/* Page tables stay after their pages are freed, and a walk through empty tables takes long, too. */
TEST(space_copy_of_nothing_lets_others_run)
{
	struct space t;
	unsigned int i;

	fresh(PAGES);
	CHECK(space_create(&s));
	for (i = 0; i < 8; i++) {
		CHECK(space_map(&s, AT + i * LARGE_PAGE, AT + i * LARGE_PAGE + PAGE_SIZE,
				USER_DATA));
		space_unmap(&s, AT + i * LARGE_PAGE, AT + i * LARGE_PAGE + PAGE_SIZE);
	}
	space_set_hooks(count_pause, NULL);
	pauses = 0;
	CHECK(space_copy(&t, &s) && !t.pages && pauses >= 8 * TABLE_ENTRIES / 64);
	space_set_hooks(NULL, NULL);
}

/*
 * Long work enables interrupts after each page that it clears or copies, and before each 64 entries
 * of a table that it frees.
 */
TEST(space_breathes)
{
	struct space copy;

	fresh(PAGES);
	CHECK(space_create(&s));
	space_set_hooks(count_pause, NULL);
	pauses = 0;
	CHECK(space_map(&s, AT, AT + 50 * PAGE_SIZE, USER_DATA) && pauses == 50);
	pauses = 0;
	CHECK(space_copy(&copy, &s) && pauses >= 50);
	pauses = 0;
	space_destroy(&copy);
	CHECK(pauses == 3 * TABLE_ENTRIES / 64);
	pauses = 0;
	CHECK(space_map(&s, AT + 50 * PAGE_SIZE, AT + 80 * PAGE_SIZE, USER_DATA) && pauses == 30);
	s.heap = AT;
	s.brk = AT + 80 * PAGE_SIZE;
	pauses = 0;
	/* after 64 freed pages there is a flush */
	CHECK(space_move_brk(&s, -80 * (int64_t)PAGE_SIZE) && pauses == 1);
	space_set_hooks(NULL, NULL);
}

/* A channel of 15 MiB is found a place, mapped and unmapped with a pause after each 64 pages. */
TEST(space_foreign_pages_let_others_run)
{
	const size_t n = (15ul << 20) / PAGE_SIZE;

	fresh(PAGES);
	CHECK(space_create(&s));
	space_set_hooks(count_pause, NULL);
	pauses = 0;
	CHECK(space_map_foreign(&s, USER_SHARED, MEMORY, n, USER_READ) && pauses == n / 64);
	pauses = 0;
	CHECK(space_find_foreign(&s, n) == USER_SHARED + n * PAGE_SIZE && pauses >= n / 64);
	pauses = 0;
	space_unmap(&s, USER_SHARED, USER_SHARED + n * PAGE_SIZE);
	CHECK(pauses >= n / 64 - 1);
	/* where no page table exists, none of its pages is looked at */
	space_destroy(&s);
	CHECK(space_create(&s));
	pauses = 0;
	CHECK(space_find_foreign(&s, n) == USER_SHARED && pauses == 8);
	space_set_hooks(NULL, NULL);
}

/* Foreign pages can be mapped and used. They are never freed, copied or counted. */
TEST(space_foreign_pages)
{
	uint64_t at = USER_SHARED, page;
	struct space copy;
	size_t before, own;
	char c = 0;

	fresh(PAGES);
	page = pages_alloc(3);
	before = pages_available();
	CHECK(space_create(&s) && space_map(&s, AT, AT + PAGE_SIZE, USER_DATA));
	own = s.pages;
	CHECK(space_find_foreign(&s, 3) == at && space_map_foreign(&s, at, page, 3, USER_DATA) &&
	      s.pages == own);
	CHECK(copy_to_user(&s, at + PAGE_SIZE - 1, "ab", 2) && ((char *)page)[PAGE_SIZE] == 'b');
	/* registers of a device: the kernel does not access them for a program */
	CHECK(space_map_foreign(&s, at + 3 * PAGE_SIZE, page, 1, USER_DATA | PTE_UNCACHED) &&
	      !copy_to_user(&s, at + 3 * PAGE_SIZE, "a", 1) &&
	      !user_writable(&s, at + 3 * PAGE_SIZE, 1));
	CHECK(!strcmp(space_explain(&s, at + 3 * PAGE_SIZE, SPACE_READ), "readable"));
	space_unmap(&s, at + 3 * PAGE_SIZE, at + 4 * PAGE_SIZE);
	CHECK(!space_map_foreign(&s, at + PAGE_SIZE, page, 1, USER_DATA) &&
	      !space_map(&s, at, at + PAGE_SIZE, USER_DATA));
	CHECK(!space_map_foreign(&s, AT + PAGE_SIZE, page, 1, USER_DATA) &&
	      !space_map_foreign(&s, at + 8, page, 1, USER_DATA));
	CHECK(!space_map_foreign(&s, USER_END - PAGE_SIZE, page, 2, USER_DATA));
	CHECK(space_find_foreign(&s, 1) == at + 3 * PAGE_SIZE && !space_find_foreign(&s, 0) &&
	      !space_find_foreign(&s, 20000));
	CHECK(space_copy(&copy, &s) && copy.pages == own &&
	      !space_translate(&copy, at, SPACE_READ));
	space_destroy(&copy);
	space_unmap(&s, at + PAGE_SIZE, at + 2 * PAGE_SIZE);
	CHECK(s.pages == own && !copy_from_user(&s, &c, at + PAGE_SIZE, 1) &&
	      space_find_foreign(&s, 1) == at + PAGE_SIZE);
	CHECK(space_map_foreign(&s, at + PAGE_SIZE, page + PAGE_SIZE, 1, USER_READ));
	CHECK(copy_from_user(&s, &c, at + PAGE_SIZE, 1) && c == 'b' &&
	      !copy_to_user(&s, at + PAGE_SIZE, "x", 1));
	space_destroy(&s);
	CHECK(pages_available() == before && ((char *)page)[PAGE_SIZE] == 'b');
}

TEST(space_foreign_without_memory_for_tables)
{
	uint64_t page;
	size_t left;

	for (left = 1; left < 8; left++) {
		fresh(left + 2);
		page = pages_alloc(1);
		if (!space_create(&s))
			continue;
		CHECK(space_map_foreign(&s, USER_SHARED, page, 1, USER_DATA) == (left >= 4));
		CHECK(!s.pages);
		space_destroy(&s);
		CHECK(pages_available() == left);
	}
}
