/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUEST_MM_H
#define QUEST_MM_H

#include <stdbool.h>
#include <stdint.h>
#include <inmate/boot.h>
#include "table.h"

/* The kernel's part of every address space, virtual = physical; above it is the programs' (space.h). */
#define KERNEL_END	0x400000000000ull	/* 64 TiB */

/* What the kernel's map depends on. */
struct mm_options {
	bool x2apic;		/* no APIC page */
	bool alone;		/* with the IOAPIC's page */
	bool no_execute;	/* CPUID offers PTE_NO_EXECUTE */
	bool global;		/* CPUID offers PTE_GLOBAL */
};

/* Set up the page pool and the kernel's own page tables. False: out of memory. */
bool mm_init(const struct boot_info *boot, const struct mm_options *options);

/*
 * Map [start, end) one to one for the kernel, 2 MiB pages where they fit. Flags of which the CPU has no
 * bit are dropped. False: no page left for a table, or beyond KERNEL_END.
 */
bool map_identity(uint64_t start, uint64_t end, uint64_t flags);

#endif
