// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The devices of ISRs: pins of the I/O APIC, pins and messages of PCI functions. In a cell the info
 * page lists the functions. Alone, config space is searched, and the firmware has chosen the BARs
 * and the pins. The lengths of BARs are then not known.
 */
#include <inmate/apic.h>
#include <inmate/cell.h>
#include <inmate/pc.h>
#include <inmate/pci.h>
#include "../kernel/kernel.h"
#include "x86.h"

#define PIN_LINE	0x3C		/* the firmware's choice of an interrupt line */
#define LARGE_PAGE	(2ull << 20)
#define CAP_MSIX	0x11

static bool lines_masked;

/* Masks all pins of the I/O APIC when the first one is needed. */
static void prepare_lines(void)
{
	if (lines_masked)
		return;
	guard_map_uncached(IOAPIC_PAGE);
	ioapic_init();
	lines_masked = true;
}

static const struct qv_info_device *find(const struct os_isr_conf *isr)
{
	static struct qv_info_device found;
	const struct qv_info_device *d;

	if (!cell_present())
		return pci_search(isr->vendor, isr->device, &found) ? &found : NULL;
	d = pci_find(isr->vendor, isr->device);
	if (d)
		guard_map_uncached(cell_info()->ecam + ((uint64_t)d->bdf << 12));
	return d;
}

static const char *route_pin(const struct qv_info_device *d, uint8_t *vector)
{
	if (!pci_enable(d, true, d->flags & QV_INFO_DEVICE_MASTER))
		return "its device may not be a bus master";
	if (cell_present()) {
		if (!d->vector)
			return "the pin of its device is not connected";
		if (d->vector >> 4 != OS_PIN_CLASS)
			return "the pin of its device has a vector of another class";
		*vector = (uint8_t)d->vector;
		return NULL;
	}
	prepare_lines();
	ioapic_route_pci(pci_read(d->bdf, PIN_LINE, 1), *vector, apic_id());
	return NULL;
}

/* Maps a BAR, uncached. Returns NULL if the function has no such memory below 4 GiB. */
static volatile void *map(const struct qv_info_device *d, unsigned int index)
{
	const struct qv_info_bar *bar = pci_bar(d, index);
	uint64_t page;

	if (!bar || bar->ports || bar->base + bar->size > 1ull << 32)
		return NULL;
	for (page = bar->base & ~(LARGE_PAGE - 1); page < bar->base + bar->size; page += LARGE_PAGE)
		guard_map_uncached(page);
	return (volatile void *)(uintptr_t)bar->base;
}

static bool enable_msix(const struct qv_info_device *d, unsigned int n, uint8_t vector)
{
	unsigned int cap = pci_capability(d->bdf, CAP_MSIX);

	return cap && map(d, pci_read(d->bdf, cap + 4, 4) & 7) &&
	       pci_msix(d, n, vector, apic_id());
}

static const char *route_messages(const struct qv_info_device *d, const struct os_isr_conf *isr,
				  uint8_t vector)
{
	if (d->flags & QV_INFO_DEVICE_NO_MESSAGES)
		return "messages do not arrive on this machine: use PIN";
	if (!pci_enable(d, false, true))
		return "its device may not be a bus master";
	if (isr->source == OS_SOURCE_MSIX)
		return enable_msix(d, isr->line, vector) ? NULL :
		       "its device has no such message in a table (MSI-X)";
	return pci_msi(d, vector, apic_id()) ? NULL : "its device cannot send messages (MSI)";
}

const char *device_route(const struct os_isr_conf *isr, uint8_t *vector)
{
	const struct qv_info_device *d;

	if (isr->source == OS_SOURCE_LINE) {
		if (cell_present())
			return "a cell has no I/O APIC: use PIN or MSI";
		prepare_lines();
		ioapic_route(isr->line, *vector, apic_id());
		return NULL;
	}
	d = find(isr);
	if (!d)
		return "its device is not there";
	return isr->source == OS_SOURCE_PIN ? route_pin(d, vector) :
	       route_messages(d, isr, *vector);
}

void device_end(void)
{
	const struct qv_info_device *d;
	uint32_t command;
	ISRType id;

	for (id = 0; id < os_num_isrs; id++) {
		if (os_isr_conf[id].source < OS_SOURCE_PIN)
			continue;
		d = find(&os_isr_conf[id]);
		if (!d)
			continue;
		command = pci_read(d->bdf, PCI_COMMAND, 2) & ~(uint32_t)PCI_COMMAND_MASTER;
		pci_write(d->bdf, PCI_COMMAND, 2, command | PCI_COMMAND_NO_INTX);
	}
}

volatile void *os_isr_device(ISRType isr, unsigned int bar)
{
	const struct qv_info_device *d;

	if (isr >= os_num_isrs || os_isr_conf[isr].source < OS_SOURCE_PIN)
		return NULL;
	d = find(&os_isr_conf[isr]);
	return d ? map(d, bar) : NULL;
}
