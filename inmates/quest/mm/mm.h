/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QUEST_MM_H
#define QUEST_MM_H

#include <stdbool.h>
#include <stdint.h>
#include <inmate/boot.h>

/* Page table bits: AMD64 manual volume 2, section 5.4. */
#define PTE_PRESENT	(1ull << 0)
#define PTE_WRITE	(1ull << 1)
#define PTE_UNCACHED	(3ull << 3)	/* PWT and PCD */
#define PTE_LARGE	(1ull << 7)
#define PTE_NO_EXECUTE	(1ull << 63)	/* dropped where the CPU has no such bit */

/* What the kernel's map depends on. */
struct mm_options {
	bool x2apic;		/* no APIC page */
	bool alone;		/* with the IOAPIC's page */
	bool no_execute;	/* CPUID offers PTE_NO_EXECUTE */
};

/* Set up the page pool and the kernel's own page tables. False: out of memory. */
bool mm_init(const struct boot_info *boot, const struct mm_options *options);

/* Map [start, end) one to one, 2 MiB pages where they fit. False: no page left for a table. */
bool map_identity(uint64_t start, uint64_t end, uint64_t flags);

#endif
