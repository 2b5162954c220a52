// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Guard pages below the stacks. The boot tables of the library map the first 4 GiB by 2 MiB pages.
 * Those that contain a guard page are split.
 */
#include <inmate/cpu.h>
#include "../kernel/kernel.h"
#include "x86.h"

#define PTE_PRESENT	0x1ull
#define PTE_WRITE	0x2ull
#define PTE_UNCACHED	0x18ull		/* PCD, PWT */
#define PTE_LARGE	0x80ull
#define PTE_FRAME	0xFFFFFFFFFF000ull

#define ENTRIES		512
#define LARGE_PAGE	(2ull << 20)
#define MAX_SPLIT	16		/* so the image may have 32 MiB */

static uint64_t split_tables[MAX_SPLIT][ENTRIES] __attribute__((aligned(OS_PAGE)));
static unsigned int splits;

static uint64_t *table_at(uint64_t entry)
{
	return (uint64_t *)(uintptr_t)(entry & PTE_FRAME);
}

/* The entry of the page directory for `va`. */
static uint64_t *directory_entry(uint64_t va)
{
	uint64_t *pdpt = table_at(table_at(read_cr3())[va >> 39 & 511]);

	return &table_at(pdpt[va >> 30 & 511])[va >> 21 & 511];
}

static void split(uint64_t *entry)
{
	uint64_t *table = split_tables[splits++], frame = *entry & ~(LARGE_PAGE - 1) & PTE_FRAME;
	unsigned int i;

	for (i = 0; i < ENTRIES; i++)
		table[i] = frame + i * OS_PAGE + (PTE_PRESENT | PTE_WRITE);
	*entry = (uintptr_t)table | PTE_PRESENT | PTE_WRITE;
}

static bool guard(const struct os_stack *stack)
{
	uint64_t va = (uintptr_t)stack->base - OS_PAGE, *entry = directory_entry(va);

	if (*entry & PTE_LARGE) {
		if (splits == MAX_SPLIT)
			return false;
		split(entry);
	}
	table_at(*entry)[va >> 12 & 511] = 0;
	return true;
}

bool guard_stacks(void)
{
	bool all = guard(&os_isr_stack);
	TaskType id;

	for (id = 0; id < os_num_tasks; id++)
		all &= guard(&os_task_conf[id].stack);
	write_cr3(read_cr3());
	return all;
}

void guard_map_uncached(uint64_t page)
{
	*directory_entry(page) |= PTE_UNCACHED;
	write_cr3(read_cr3());
}

static bool in_guard(const struct os_stack *stack, uint64_t address)
{
	return address < (uintptr_t)stack->base && address >= (uintptr_t)stack->base - OS_PAGE;
}

const char *guard_owner(uint64_t address)
{
	TaskType id;

	for (id = 0; id < os_num_tasks; id++)
		if (in_guard(&os_task_conf[id].stack, address))
			return os_task_conf[id].name;
	return in_guard(&os_isr_stack, address) ? "interrupts" : NULL;
}
