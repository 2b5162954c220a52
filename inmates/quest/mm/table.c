// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <inmate/string.h>
#include "pages.h"
#include "table.h"

#define TOP_LEVEL	3

uint64_t table_new(void)
{
	uint64_t table = pages_alloc(1);

	if (table)
		memset(table_at(table), 0, PAGE_SIZE);
	return table;
}

/*
 * Returns the table that `entry` points to, and creates it if it is missing. NULL: the entry maps a
 * large page, or there is no memory.
 */
static uint64_t *descend(uint64_t *entry, uint64_t rights)
{
	uint64_t table;

	if (*entry & PTE_PRESENT)
		return *entry & PTE_LARGE ? NULL : table_at(*entry & PTE_ADDRESS);
	table = table_new();
	if (!table)
		return NULL;
	*entry = table | PTE_PRESENT | PTE_WRITE | rights;
	return table_at(table);
}

uint64_t *table_make(uint64_t root, uint64_t va, int level, uint64_t rights)
{
	uint64_t *table = table_at(root);
	int at;

	for (at = TOP_LEVEL; at > level && table; at--)
		table = descend(&table[table_index(va, at)], rights);
	return table ? &table[table_index(va, level)] : NULL;
}

uint64_t *table_find(uint64_t root, uint64_t va)
{
	uint64_t *table = table_at(root), entry;
	int at;

	for (at = TOP_LEVEL; at > 0; at--) {
		entry = table[table_index(va, at)];
		if (!(entry & PTE_PRESENT) || entry & PTE_LARGE)
			return NULL;
		table = table_at(entry & PTE_ADDRESS);
	}
	return &table[table_index(va, 0)];
}
