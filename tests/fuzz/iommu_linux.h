/* SPDX-License-Identifier: GPL-2.0-only */
/* Linux in the fuzzers of IOMMU units: its memory, parts of which may go to a cell; its CPUs. */
#ifndef IOMMU_LINUX_H
#define IOMMU_LINUX_H

#include "choices.h"

#define HUGES	4u

/* Blocks of 2 MiB that may belong to a cell: Linux's queue and tables, and other memory */
extern const u64 huge[HUGES];
extern u32 gone;			/* bit i: huge[i] belongs to a cell */

bool linux_has(u64 pa);
/* Linux writes 16 bytes of its own memory, and none of a cell */
void linux_writes(u64 pa, u64 low, u64 high);
/* Returns an address in one of huge[] or @num addresses @near, or any other */
u64 any_address(struct choices *c, const u64 *near, u32 num);
/*
 * Returns true if an interrupt reaches CPUs of Linux only, and one at least. In x2APIC mode: @dest
 * is an APIC id, or (@logical) a cluster of 16 CPUs and a bit for each
 */
bool linux_only(u64 dest, bool logical);

#endif
