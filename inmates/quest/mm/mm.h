/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUEST_MM_H
#define QUEST_MM_H

#include <stdbool.h>
#include <stdint.h>
#include <inmate/boot.h>
#include "table.h"

/*
 * End of the kernel's part of every address space, in which virtual addresses equal physical ones,
 * except for kernel stacks (kstack.h). The programs' part is above it (space.h).
 */
#define KERNEL_END	0x400000000000ull	/* 64 TiB */

/* Properties of the machine that determine the kernel's page tables. */
struct mm_options {
	bool x2apic;		/* there is no APIC page */
	bool alone;		/* the IOAPIC's page is mapped, too */
	bool no_execute;	/* CPUID offers PTE_NO_EXECUTE */
	bool global;		/* CPUID offers PTE_GLOBAL */
};

/* Sets up the page pool and the kernel's own page tables. Returns false if there is no memory. */
bool mm_init(const struct boot_info *boot, const struct mm_options *options);

/*
 * Maps [start, end) one to one for the kernel, with 2 MiB pages where they fit. Drops flags that
 * the CPU does not have. Returns false if there is no page for a table, or `end` is above
 * KERNEL_END.
 */
bool map_identity(uint64_t start, uint64_t end, uint64_t flags);

#endif
