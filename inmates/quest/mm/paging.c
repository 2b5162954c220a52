// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include "mm.h"
#include "pages.h"
#include "paging.h"

#define CR4_PGE		(1ull << 7)

static uint64_t kernel_root, current_root;
static uint64_t usable_flags;
static unsigned int generation;

bool paging_init(bool no_execute)
{
	usable_flags = no_execute ? ~0ull : ~PTE_NO_EXECUTE;
	if (no_execute)
		wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_NXE);
	kernel_root = table_new();
	return kernel_root != 0;
}

void paging_activate(bool global)
{
	paging_switch(kernel_root);
	if (global)
		write_cr4(read_cr4() | CR4_PGE);
}

uint64_t paging_usable(uint64_t flags)
{
	return flags & usable_flags;
}

uint64_t paging_kernel_root(void)
{
	return kernel_root;
}

unsigned int paging_generation(void)
{
	return generation;
}

void paging_switch(uint64_t root)
{
	if (root == current_root)
		return;
	current_root = root;
	write_cr3(root);
}

void paging_forget(uint64_t va)
{
	invlpg(va);
}

bool map_identity(uint64_t start, uint64_t end, uint64_t flags)
{
	uint64_t va = start & ~(PAGE_SIZE - 1), *entry;
	int large;

	if (end > KERNEL_END)
		return false;
	for (; va < end; va += large ? LARGE_PAGE : PAGE_SIZE) {
		large = va % LARGE_PAGE == 0 && end - va >= LARGE_PAGE;
		if (!(table_at(kernel_root)[table_index(va, 3)] & PTE_PRESENT))
			generation++;
		entry = table_make(kernel_root, va, large, 0);
		if (!entry)
			return false;
		*entry = va | paging_usable(flags) | PTE_PRESENT | PTE_GLOBAL |
			 (large ? PTE_LARGE : 0);
		invlpg(va);
	}
	return true;
}
