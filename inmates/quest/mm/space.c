// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/string.h>
#include "arena.h"
#include "mm.h"
#include "paging.h"
#include "space.h"

/* number of entries of the top table up to KERNEL_END */
#define KERNEL_ENTRIES	(TABLE_ENTRIES / 4)
/* the one entry of the top table that all programs use */
#define USER_TOP	(KERNEL_ENTRIES)

/* number of page table entries that are handled between two pauses */
#define STEP		64

static void (*breathe)(void), (*flush)(void);

_Static_assert(KERNEL_END == USER_BASE && USER_BASE >> 39 == USER_TOP, "the halves adjoin");
_Static_assert(USER_STACKS + STACKS_MAX * 2 * STACK_BYTES <= USER_IMAGE, "stacks below the image");

void space_set_hooks(void (*pause)(void), void (*flush_tlb)(void))
{
	breathe = pause;
	flush = flush_tlb;
}

static void take_breath(void)
{
	if (breathe)
		breathe();
}

static void flush_tlb_now(void)
{
	if (flush)
		flush();
}

static void take_kernel_entries(struct space *s)
{
	memcpy(table_at(s->root), table_at(paging_kernel_root()),
	       KERNEL_ENTRIES * sizeof(uint64_t));
	s->generation = paging_generation();
}

bool space_create(struct space *s)
{
	*s = (struct space){ .root = table_new() };
	if (s->root)
		take_kernel_entries(s);
	return s->root;
}

void space_activate(struct space *s)
{
	if (s->generation != paging_generation())
		take_kernel_entries(s);
	paging_switch(s->root);
}

/* Code is not executed from the arena, since a cell executes no memory of channels. */
static uint64_t new_page(uint64_t rights)
{
	uint64_t page = rights & PTE_NO_EXECUTE ? arena_alloc() : 0;

	return page ? page : pages_alloc(1);
}

static void free_page(uint64_t page)
{
	uint64_t at;

	if (arena_has(page, &at))
		arena_free(page);
	else
		pages_free(page, 1);
}

static void free_tables(uint64_t table, int level)
{
	uint64_t entry;
	unsigned int i;

	for (i = 0; i < TABLE_ENTRIES; i++) {
		if (i % STEP == 0)
			take_breath();
		entry = table_at(table)[i];
		if (!(entry & PTE_PRESENT))
			continue;
		if (level)
			free_tables(entry & PTE_ADDRESS, level - 1);
		else if (!(entry & PTE_FOREIGN))
			free_page(entry & PTE_ADDRESS);
	}
	pages_free(table, 1);
}

void space_destroy(struct space *s)
{
	uint64_t entry;

	if (!s->root)
		return;
	entry = table_at(s->root)[USER_TOP];
	if (entry & PTE_PRESENT)
		free_tables(entry & PTE_ADDRESS, 2);
	pages_free(s->root, 1);
	*s = (struct space){ 0 };
}

static bool in_place(uint64_t start, uint64_t end)
{
	return !(start % PAGE_SIZE) && !(end % PAGE_SIZE) && start >= USER_BASE && start <= end &&
	       end <= USER_END;
}

/* Returns the last page whose entry is in the same page table as that of `va`. */
static uint64_t last_beside(uint64_t va)
{
	return (va & ~(LARGE_PAGE - 1)) + LARGE_PAGE - PAGE_SIZE;
}

/*
 * Returns the page table entry of `va`; NULL if a page is mapped there, or there is no memory for
 * tables.
 */
static uint64_t *empty_entry(struct space *s, uint64_t va)
{
	uint64_t *entry = table_make(s->root, va, 0, PTE_USER);

	return entry && !(*entry & PTE_PRESENT) ? entry : NULL;
}

/* Maps one new page. Returns 0 if there is no memory or a page is mapped there already. */
static uint64_t map_one(struct space *s, uint64_t va, uint64_t rights)
{
	uint64_t *entry = empty_entry(s, va), page;

	page = entry ? new_page(rights) : 0;
	if (!page)
		return 0;
	*entry = page | paging_usable(rights) | PTE_PRESENT;
	s->pages++;
	return page;
}

bool space_map(struct space *s, uint64_t start, uint64_t end, uint64_t rights)
{
	uint64_t va, page;

	if (!in_place(start, end))
		return false;
	for (va = start; va < end; va += PAGE_SIZE) {
		page = map_one(s, va, rights);
		if (!page) {
			space_unmap(s, start, va);
			return false;
		}
		memset(table_at(page), 0, PAGE_SIZE);
		take_breath();
	}
	return true;
}

bool space_map_foreign(struct space *s, uint64_t start, uint64_t page, size_t n, uint64_t rights)
{
	uint64_t end = start + n * PAGE_SIZE, va, *entry;

	if (!in_place(start, end) || start < USER_SHARED)
		return false;
	for (va = start; va < end; va += PAGE_SIZE, page += PAGE_SIZE) {
		entry = empty_entry(s, va);
		if (!entry) {
			space_unmap(s, start, va);
			return false;
		}
		*entry = page | paging_usable(rights) | PTE_PRESENT | PTE_FOREIGN;
		if (va / PAGE_SIZE % STEP == STEP - 1)
			take_breath();
	}
	return true;
}

uint64_t space_find_foreign(const struct space *s, size_t n)
{
	uint64_t va, start = USER_SHARED, *entry;

	if (!n || n > (USER_END - USER_SHARED) / PAGE_SIZE)
		return 0;
	for (va = start; va < USER_END && va < start + n * PAGE_SIZE; va += PAGE_SIZE) {
		entry = table_find(s->root, va);
		if (!entry)
			va = last_beside(va);
		else if (*entry & PTE_PRESENT)
			start = va + PAGE_SIZE;
		if (va / PAGE_SIZE % STEP == STEP - 1)
			take_breath();
	}
	return start + n * PAGE_SIZE <= USER_END ? start : 0;
}

static void forget_page(struct space *s, uint64_t entry)
{
	if (entry & PTE_FOREIGN)
		return;
	free_page(entry & PTE_ADDRESS);
	s->pages--;
}

void space_unmap(struct space *s, uint64_t start, uint64_t end)
{
	uint64_t va, *entry;

	for (va = start; va < end; va += PAGE_SIZE) {
		entry = table_find(s->root, va);
		if (entry && *entry & PTE_PRESENT) {
			forget_page(s, *entry);
			*entry = 0;
		}
		if ((va - start) / PAGE_SIZE % STEP == STEP - 1 && va + PAGE_SIZE < end) {
			flush_tlb_now();
			take_breath();
		}
	}
	flush_tlb_now();
}

static bool copy_page(struct space *to, uint64_t va, uint64_t entry)
{
	uint64_t page = map_one(to, va, entry & (PTE_USER | PTE_WRITE | PTE_NO_EXECUTE));

	if (!page)
		return false;
	memcpy(table_at(page), table_at(entry & PTE_ADDRESS), PAGE_SIZE);
	take_breath();
	return true;
}

uint64_t space_next_page(const struct space *s, uint64_t va, uint64_t *entry)
{
	uint64_t *found;

	for (; va < USER_END; va += PAGE_SIZE) {
		found = table_find(s->root, va);
		if (!found) {
			va = last_beside(va);
		} else if (*found & PTE_PRESENT && !(*found & PTE_FOREIGN)) {
			*entry = *found;
			return va;
		}
		if (va / PAGE_SIZE % STEP == STEP - 1)
			take_breath();
	}
	return 0;
}

bool space_copy(struct space *to, const struct space *from)
{
	uint64_t va = USER_BASE, entry;

	if (!space_create(to))
		return false;
	to->heap = from->heap;
	to->brk = from->brk;
	for (; (va = space_next_page(from, va, &entry)); va += PAGE_SIZE) {
		if (copy_page(to, va, entry))
			continue;
		space_destroy(to);
		return false;
	}
	return true;
}

static uint64_t page_up(uint64_t va)
{
	return (va + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
}

bool space_move_brk(struct space *s, int64_t delta)
{
	uint64_t now = s->brk, then = now + (uint64_t)delta;

	if (delta < 0 ? then < s->heap || then > now : then > USER_SHARED || then < now)
		return false;
	if (then > now && !space_map(s, page_up(now), page_up(then), USER_DATA))
		return false;
	s->brk = then;
	if (then < now)
		space_unmap(s, page_up(then), page_up(now));
	return true;
}

uint64_t space_stack_top(unsigned int n)
{
	return USER_STACKS + (n + 1) * 2 * STACK_BYTES;
}

static uint64_t entry_for(const struct space *s, uint64_t va)
{
	uint64_t *entry = va >= USER_BASE && va < USER_END ? table_find(s->root, va) : NULL;

	return entry && *entry & PTE_PRESENT && *entry & PTE_USER ? *entry : 0;
}

uint64_t space_translate(const struct space *s, uint64_t va, enum space_access access)
{
	uint64_t entry = entry_for(s, va);

	if (!entry || entry & PTE_UNCACHED || (access == SPACE_WRITE && !(entry & PTE_WRITE)) ||
	    (access == SPACE_EXECUTE && entry & PTE_NO_EXECUTE))
		return 0;
	return (entry & PTE_ADDRESS) | (va & (PAGE_SIZE - 1));
}

static bool in_guard(uint64_t va)
{
	return va >= USER_STACKS && va < USER_IMAGE && (va - USER_STACKS) / STACK_BYTES % 2 == 0;
}

const char *space_explain(const struct space *s, uint64_t va, enum space_access access)
{
	if (va < PAGE_SIZE)
		return "a null pointer";
	if (va < KERNEL_END || va >> 47)
		return "not the program's: the kernel's part";
	if (in_guard(va))
		return "the guard below a stack: the stack is exhausted";
	if (!entry_for(s, va))
		return "nothing is mapped there";
	return access == SPACE_WRITE ? "read-only" :
	       access == SPACE_EXECUTE ? "data, not code" : "readable";
}
