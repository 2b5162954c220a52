// SPDX-License-Identifier: GPL-2.0-only
#include "kstack.h"
#include "pages.h"
#include "paging.h"
#include "table.h"

#define SLOT	(KSTACK_GUARD + KSTACK_BYTES)
#define RIGHTS	(PTE_WRITE | PTE_NO_EXECUTE)

static unsigned int stacks;

static uint64_t bottom_of(unsigned int n)
{
	return KSTACK_BASE + n * SLOT + KSTACK_GUARD;
}

bool kstacks_init(unsigned int n)
{
	uint64_t va, end = KSTACK_BASE + n * SLOT;

	for (va = KSTACK_BASE; va < end; va += LARGE_PAGE)
		if (!table_make(paging_kernel_root(), va, 0, 0))
			return false;
	stacks = n;
	return true;
}

uint64_t kstack_make(unsigned int n)
{
	uint64_t bottom = bottom_of(n), va, page;

	for (va = bottom; va < bottom + KSTACK_BYTES; va += PAGE_SIZE) {
		page = pages_alloc(1);
		if (!page) {
			kstack_drop(n);
			return 0;
		}
		*table_find(paging_kernel_root(), va) = page | paging_usable(RIGHTS) | PTE_PRESENT |
							PTE_GLOBAL;
	}
	return bottom;
}

void kstack_drop(unsigned int n)
{
	uint64_t bottom = bottom_of(n), va, *entry;

	for (va = bottom; va < bottom + KSTACK_BYTES; va += PAGE_SIZE) {
		entry = table_find(paging_kernel_root(), va);
		if (!(*entry & PTE_PRESENT))
			continue;
		pages_free(*entry & PTE_ADDRESS, 1);
		*entry = 0;
		paging_forget(va);
	}
}

int kstack_guarded(uint64_t va)
{
	if (va < KSTACK_BASE || va >= KSTACK_BASE + stacks * SLOT)
		return -1;
	return (va - KSTACK_BASE) % SLOT < KSTACK_GUARD ? (int)((va - KSTACK_BASE) / SLOT) : -1;
}
