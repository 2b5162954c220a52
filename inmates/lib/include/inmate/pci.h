/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The cell's PCI functions, as the info page lists them. First map config space
 * uncached at cell_info()->ecam + (bdf << 12) (one page each), and memory BARs
 * at their addresses. PCI Local Bus Specification 3.0, chapter 6.
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

/*
 * Return the cell's n-th function, and the cell's first function with these ids; NULL: no such
 * function.
 */
const struct qv_info_device *pci_nth(unsigned int n);
const struct qv_info_device *pci_find(uint16_t vendor, uint16_t device);

/*
 * Alone, there is no info page. Searches config space through the ports for the first function with
 * these ids, and fills in its place and its memory BARs below 4 GiB, as the firmware chose them. It
 * does not size them: their lengths are PCI_SEARCHED_SIZE. Returns false if there is no such
 * function.
 */
#define PCI_SEARCHED_SIZE	(2ull << 20)
bool pci_search(uint16_t vendor, uint16_t device, struct qv_info_device *found);

/* Returns BAR `index`; NULL: the function does not have it. */
const struct qv_info_bar *pci_bar(const struct qv_info_device *d, unsigned int index);

/*
 * Access the config space of any function by 1, 2 or 4 bytes. If the cell does not have the
 * function, reads return ones. Alone, they use the ports.
 */
uint32_t pci_read(uint32_t bdf, unsigned int reg, unsigned int size);
void pci_write(uint32_t bdf, unsigned int reg, unsigned int size, uint32_t value);

/* Access the config space through ports 0xCF8 and 0xCFC. Each access causes an exit. */
uint32_t pci_port_read(uint32_t bdf, unsigned int reg, unsigned int size);
void pci_port_write(uint32_t bdf, unsigned int reg, unsigned int size, uint32_t value);

/*
 * Makes the function decode its BARs. `pin` also enables its interrupt pin and disables MSI;
 * `master` makes it a bus master. Returns false if the monitor rejected the change.
 */
bool pci_enable(const struct qv_info_device *d, bool pin, bool master);

/* Returns the offset of a capability (5: MSI, 0x11: MSI-X); 0: the function does not have it. */
unsigned int pci_capability(uint32_t bdf, uint8_t id);

/*
 * Enables MSI: `vector` (32..255) on CPU `apic_id` (below 255) of the cell.
 * Needs pci_enable() with `master`. Returns false if there is no MSI or the monitor rejected it.
 * Behind an IOMMU the register shows an entry of its table, so a rejected CPU is not noticed.
 */
bool pci_msi(const struct qv_info_device *d, uint8_t vector, uint32_t apic_id);

/*
 * Writes entry `n` of the MSI-X table, whose BAR must be mapped; unmasks the entry and enables
 * MSI-X.
 */
bool pci_msix(const struct qv_info_device *d, unsigned int n, uint8_t vector, uint32_t apic_id);

#endif
