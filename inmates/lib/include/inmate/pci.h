/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The cell's PCI functions, by the info page. Config space must be mapped
 * uncached at cell_info()->ecam + (bdf << 12) first (one page each), memory
 * BARs where they are. PCI Local Bus Specification 3.0, chapter 6.
 */
#ifndef INMATE_PCI_H
#define INMATE_PCI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <qv/cell.h>

#define PCI_COMMAND		0x04
#define PCI_COMMAND_IO		0x001
#define PCI_COMMAND_MEMORY	0x002
#define PCI_COMMAND_MASTER	0x004
#define PCI_COMMAND_NO_INTX	0x400

/* The cell's nth function, or the first with these ids; NULL: there is none. */
const struct qv_info_device *pci_nth(unsigned int n);
const struct qv_info_device *pci_find(uint16_t vendor, uint16_t device);

/* BAR `index`; NULL: it has none. */
const struct qv_info_bar *pci_bar(const struct qv_info_device *d, unsigned int index);

/* Config space of any function, 1, 2 or 4 bytes. A function that is not the cell's reads as ones. */
uint32_t pci_read(uint32_t bdf, unsigned int reg, unsigned int size);
void pci_write(uint32_t bdf, unsigned int reg, unsigned int size, uint32_t value);

/* The same by ports 0xCF8 and 0xCFC: each access is an exit. */
uint32_t pci_port_read(uint32_t bdf, unsigned int reg, unsigned int size);
void pci_port_write(uint32_t bdf, unsigned int reg, unsigned int size, uint32_t value);

/* Let it answer to its BARs; `pin`: its interrupt pin too, and MSI off; `master`: be a bus master. False: refused. */
bool pci_enable(const struct qv_info_device *d, bool pin, bool master);

/* Offset of a capability (5: MSI, 0x11: MSI-X); 0: it has none. */
unsigned int pci_capability(uint32_t bdf, uint8_t id);

/*
 * Interrupts as messages: `vector` (32..255) on the own CPU `apic_id` (below 255).
 * Needs pci_enable() with `master`. False: it has no MSI, or the monitor refused.
 */
bool pci_msi(const struct qv_info_device *d, uint8_t vector, uint32_t apic_id);

/* Entry `n` of the MSI-X table, whose BAR must be mapped; unmasks it and enables MSI-X. */
bool pci_msix(const struct qv_info_device *d, unsigned int n, uint8_t vector, uint32_t apic_id);

#endif
