/* SPDX-License-Identifier: GPL-2.0-only */
/* The registers of one PCI function that is given to a cell. */
#ifndef QV_PCI_FUNCTION_H
#define QV_PCI_FUNCTION_H

#include "core/cpu.h"
#include "core/pci.h"

#define CLASS_BRIDGE	0x06	/* host and ISA bridges have a header like any function */

static inline u64 config_of(u32 bdf)
{
	return me()->boot.ecam_pa + ((u64)bdf << 12);
}

/*
 * Adds to @p, a part of managed(), rules for writes to the function's config space, which are not
 * in force yet; fills @t if it has MSI-X
 */
void pci_make_rules(struct pcpu *cpu, struct pci_cell *p, const struct qv_mon_device *d,
		    struct pci_table *t);
/* Switches off the function's DMA, its interrupts, and access to its registers */
void pci_quiet(struct pcpu *cpu, u32 bdf);
/*
 * Puts an allowed message in each message register whose rule is not in force yet, so that enabling
 * needs no check
 */
void pci_valid_messages(struct pcpu *cpu, const struct pci_cell *p, u32 address);
/* Puts an allowed message in every entry of an MSI-X table, and masks all entries */
void pci_valid_table(struct pcpu *cpu, const struct pci_table *t, u32 bdf, u32 address);

#endif
