// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/string.h>
#include "mm.h"
#include "pages.h"
#include "paging.h"

#define LARGE_PAGE	(2ull << 20)
#define ENTRIES		512
#define ADDRESS		0x000FFFFFFFFFF000ull

static uint64_t *root;
static uint64_t usable_flags;

static uint64_t *new_table(void)
{
	uint64_t *table = (uint64_t *)(uintptr_t)pages_alloc(1);

	if (table)
		memset(table, 0, PAGE_SIZE);
	return table;
}

bool paging_init(bool no_execute)
{
	usable_flags = no_execute ? ~0ull : ~PTE_NO_EXECUTE;
	if (no_execute)
		wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_NXE);
	root = new_table();
	return root != NULL;
}

void paging_activate(void)
{
	write_cr3((uintptr_t)root);
}

static unsigned int index_of(uint64_t va, int level)
{
	return va >> (12 + 9 * level) & (ENTRIES - 1);
}

/* The table below `entry`, made if it is missing. NULL: a large page is there, or memory is out. */
static uint64_t *descend(uint64_t *entry)
{
	uint64_t *table;

	if (*entry & PTE_PRESENT)
		return *entry & PTE_LARGE ? NULL : (uint64_t *)(*entry & ADDRESS);
	table = new_table();
	if (table)
		*entry = (uintptr_t)table | PTE_PRESENT | PTE_WRITE;
	return table;
}

/* Entry of `va` in the table of `level` (0: 4 KiB pages, 1: 2 MiB pages). */
static uint64_t *entry_of(uint64_t va, int level)
{
	uint64_t *table = root;
	int at;

	for (at = 3; at > level && table; at--)
		table = descend(&table[index_of(va, at)]);
	return table ? &table[index_of(va, level)] : NULL;
}

bool map_identity(uint64_t start, uint64_t end, uint64_t flags)
{
	uint64_t va = start & ~(PAGE_SIZE - 1), *entry;
	int large;

	for (; va < end; va += large ? LARGE_PAGE : PAGE_SIZE) {
		large = va % LARGE_PAGE == 0 && end - va >= LARGE_PAGE;
		entry = entry_of(va, large);
		if (!entry)
			return false;
		*entry = va | (flags & usable_flags) | PTE_PRESENT | (large ? PTE_LARGE : 0);
		invlpg(va);
	}
	return true;
}
