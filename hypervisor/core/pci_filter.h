/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides which values a cell may write to its PCI functions, and Linux to an IOAPIC. Pure. PCI
 * Local Bus Specification 3.0, chapter 6; messages: AMD APM vol. 2, 16.11; Intel SDM vol. 3, 11.11;
 * redirection entries: Intel 82093AA, 3.2.4.
 */
#ifndef QV_PCI_FILTER_H
#define QV_PCI_FILTER_H

#include "icr.h"

/* Requirement on a register's new value, in the order of the words of an entry of MSI-X */
enum pci_check {
	/* the value must be a message address: physical destination, one of the cell's own CPUs */
	PCI_MSI_ADDRESS,
	PCI_ZERO,
	/* the value must be message data: vector from 32 on; fixed or lowest priority; edge */
	PCI_MSI_DATA,
	PCI_ANY,
};

struct pci_rule {		/* one dword of config space that takes writes */
	u32 at;			/* bdf << 12 | offset, a multiple of 4 */
	u32 check;		/* enum pci_check */
	u32 writable;		/* bits the cell may change */
	/* bits that are written back as they are; the rest is written as zeros */
	u32 keep;
	u32 remap;		/* messages: REMAP_ADDRESS(), or 0: unchanged */
};

/*
 * The address of messages that an IOMMU remaps by 256 entries of its table, one for each value of
 * the data, which is the vector. The entries from @first on are for the first CPU, those of the
 * next CPU follow. Intel VT-d specification 3.3, 5.1.2.2
 */
#define REMAP_ADDRESS(first)	(0xfee00018u | (first) << 5)
#define REMAP_ENTRIES		256u

/* Returns what to write for @value, which is another value if @remap is not 0; -1: it is refused */
s64 pci_value(const struct icr_map *map, u32 check, u32 remap, u32 value);
/*
 * Filters a write of the bits @mask of @value to @rule's register, which holds @old. Returns the
 * value to write instead, or -1 if the whole write is refused.
 */
s64 pci_filter(const struct icr_map *map, const struct pci_rule *rule, u32 old, u32 value,
	       u32 mask);
/* True if a redirection entry is masked, in a remapped format, or for @map->own_cpus only */
bool ioapic_entry_ok(const struct icr_map *map, u32 low, u32 high);

#endif
