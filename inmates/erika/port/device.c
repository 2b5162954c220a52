// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The devices of ISRs: pins of the I/O APIC, pins and messages of PCI functions. In a cell the info
 * page lists the functions. Alone, config space is searched, and the firmware has chosen the BARs
 * and the pins.
 */
#include <inmate/apic.h>
#include <inmate/cell.h>
#include <inmate/pc.h>
#include <inmate/pci.h>
#include "../kernel/kernel.h"
#include "x86.h"

#define NUM_FUNCTIONS	0x10000u	/* 256 buses, 32 devices, 8 functions */
#define VENDOR		0x00
#define DEVICE		0x02
#define HEADER		0x0E
#define HEADER_MANY	0x80		/* the device has more than one function */
#define BAR(n)		(0x10 + 4 * (n))
#define BAR_PORTS	1u
#define BAR_WIDE	4u
#define PIN_LINE	0x3C		/* the firmware's choice of an interrupt line */
#define NO_VENDOR	0xFFFFu
#define LARGE_PAGE	(2ull << 20)

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

static const struct qv_info_device *search(uint16_t vendor, uint16_t device)
{
	static struct qv_info_device found;
	uint32_t bdf, step;

	for (bdf = 0; bdf < NUM_FUNCTIONS; bdf += step) {
		uint32_t id = pci_port_read(bdf, VENDOR, 2);

		step = bdf % 8 || (id != NO_VENDOR &&
				   pci_port_read(bdf, HEADER, 1) & HEADER_MANY) ? 1 : 8;
		if (id != vendor || pci_port_read(bdf, DEVICE, 2) != device)
			continue;
		found = (struct qv_info_device){ .bdf = bdf, .vendor = vendor, .device = device,
						 .flags = QV_INFO_DEVICE_MASTER };
		return &found;
	}
	return NULL;
}

static const struct qv_info_device *find(const struct os_isr_conf *isr)
{
	const struct qv_info_device *d;

	if (!cell_present())
		return search(isr->vendor, isr->device);
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

static const char *route_messages(const struct qv_info_device *d, uint8_t vector)
{
	if (d->flags & QV_INFO_DEVICE_NO_MESSAGES)
		return "messages do not arrive on this machine: use PIN";
	if (!pci_enable(d, false, true) || !pci_msi(d, vector, apic_id()))
		return "its device cannot send messages";
	return NULL;
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
	return isr->source == OS_SOURCE_PIN ? route_pin(d, vector) : route_messages(d, *vector);
}

/* Alone, the length of a BAR is not known. */
static uint64_t memory_of(const struct qv_info_device *d, unsigned int bar, uint64_t *size)
{
	const struct qv_info_bar *known;
	uint32_t low;

	*size = LARGE_PAGE;
	if (cell_present()) {
		known = pci_bar(d, bar);
		*size = known ? known->size : 0;
		return known && !known->ports ? known->base : 0;
	}
	low = pci_read(d->bdf, BAR(bar), 4);
	if (low & BAR_PORTS || (low & BAR_WIDE && pci_read(d->bdf, BAR(bar + 1), 4)))
		return 0;
	return low & ~0xFu;
}

volatile void *os_isr_device(ISRType isr, unsigned int bar)
{
	const struct qv_info_device *d;
	uint64_t base, size, page;

	if (isr >= os_num_isrs || os_isr_conf[isr].source < OS_SOURCE_PIN || bar > 5)
		return NULL;
	d = find(&os_isr_conf[isr]);
	base = d ? memory_of(d, bar, &size) : 0;
	if (!base || base + size > 1ull << 32)
		return NULL;
	for (page = base & ~(LARGE_PAGE - 1); page < base + size; page += LARGE_PAGE)
		guard_map_uncached(page);
	return (volatile void *)(uintptr_t)base;
}
