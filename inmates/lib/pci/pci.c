// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/pci.h>

#define CONFIG_ADDRESS	0xCF8
#define CONFIG_DATA	0xCFC
#define CONFIG_ENABLE	(1u << 31)
#define STATUS		0x06
#define STATUS_CAPS	0x10
#define CAPS		0x34
#define CAPS_MAX	48
#define CAP_MSI		0x05
#define CAP_MSIX	0x11
#define MSI_ENABLE	0x0001
#define MSI_64		0x0080
#define MSIX_ENABLE	0x8000
#define MSIX_ALL_MASKED	0x4000
#define MESSAGE_ADDRESS	0xFEE00000u
#define MESSAGE_REMAPPED	0x10u

const struct qv_info_device *pci_nth(unsigned int n)
{
	const struct qv_info *info = cell_info();

	return n < info->num_devices && n < QV_INFO_MAX_DEVICES ? &info->devices[n] : NULL;
}

const struct qv_info_device *pci_find(uint16_t vendor, uint16_t device)
{
	const struct qv_info_device *d;
	unsigned int n;

	for (n = 0; (d = pci_nth(n)); n++)
		if (d->vendor == vendor && d->device == device)
			return d;
	return NULL;
}

const struct qv_info_bar *pci_bar(const struct qv_info_device *d, unsigned int index)
{
	unsigned int i;

	for (i = 0; i < QV_INFO_MAX_BARS; i++)
		if (d->bars[i].size && d->bars[i].index == index)
			return &d->bars[i];
	return NULL;
}

/* Uses plain moves, since writes are trapped and the monitor must decode them. */
uint32_t pci_read(uint32_t bdf, unsigned int reg, unsigned int size)
{
	uint64_t at = cell_info()->ecam + ((uint64_t)bdf << 12) + reg;
	uint32_t value;

	if (!cell_info()->ecam)
		return pci_port_read(bdf, reg, size);
	if (size == 1)
		__asm__ volatile("movzbl (%1), %0" : "=a"(value) : "r"(at) : "memory");
	else if (size == 2)
		__asm__ volatile("movzwl (%1), %0" : "=a"(value) : "r"(at) : "memory");
	else
		__asm__ volatile("movl (%1), %0" : "=a"(value) : "r"(at) : "memory");
	return value;
}

void pci_write(uint32_t bdf, unsigned int reg, unsigned int size, uint32_t value)
{
	uint64_t at = cell_info()->ecam + ((uint64_t)bdf << 12) + reg;

	if (!cell_info()->ecam)
		pci_port_write(bdf, reg, size, value);
	else if (size == 1)
		__asm__ volatile("movb %b0, (%1)" : : "a"(value), "r"(at) : "memory");
	else if (size == 2)
		__asm__ volatile("movw %w0, (%1)" : : "a"(value), "r"(at) : "memory");
	else
		__asm__ volatile("movl %0, (%1)" : : "a"(value), "r"(at) : "memory");
}

static uint16_t select(uint32_t bdf, unsigned int reg)
{
	outl(CONFIG_ADDRESS, CONFIG_ENABLE | bdf << 8 | (reg & 0xFC));
	return CONFIG_DATA + (reg & 3);
}

uint32_t pci_port_read(uint32_t bdf, unsigned int reg, unsigned int size)
{
	uint16_t port = select(bdf, reg);

	return size == 1 ? inb(port) : size == 2 ? inw(port) : inl(port);
}

void pci_port_write(uint32_t bdf, unsigned int reg, unsigned int size, uint32_t value)
{
	uint16_t port = select(bdf, reg);

	if (size == 1)
		outb(port, value);
	else if (size == 2)
		outw(port, value);
	else
		outl(port, value);
}

unsigned int pci_capability(uint32_t bdf, uint8_t id)
{
	unsigned int at, i;

	if (!(pci_read(bdf, STATUS, 2) & STATUS_CAPS))
		return 0;
	at = pci_read(bdf, CAPS, 1) & 0xFC;
	for (i = 0; i < CAPS_MAX && at >= 0x40; i++) {
		if (pci_read(bdf, at, 1) == id)
			return at;
		at = pci_read(bdf, at + 1, 1) & 0xFC;
	}
	return 0;
}

/* A function with MSI enabled does not use its pin */
static void message_off(uint32_t bdf)
{
	unsigned int cap = pci_capability(bdf, CAP_MSI);
	uint32_t control = cap ? pci_read(bdf, cap + 2, 2) : 0;

	if (control & MSI_ENABLE)
		pci_write(bdf, cap + 2, 2, control & ~MSI_ENABLE);
}

bool pci_enable(const struct qv_info_device *d, bool pin, bool master)
{
	uint32_t want = PCI_COMMAND_IO | PCI_COMMAND_MEMORY | (pin ? 0 : PCI_COMMAND_NO_INTX) |
			(master ? PCI_COMMAND_MASTER : 0);

	if (pin)
		message_off(d->bdf);
	pci_write(d->bdf, PCI_COMMAND, 2, want);
	return !master || (pci_read(d->bdf, PCI_COMMAND, 2) & PCI_COMMAND_MASTER);
}

/*
 * Returns true if an address register holds the written value. Behind an IOMMU the monitor writes
 * the address in the form that the IOMMU remaps (bit 4), and the register shows that.
 */
static bool written(uint32_t holds, uint32_t address)
{
	return holds == address || (holds & MESSAGE_REMAPPED);
}

bool pci_msi(const struct qv_info_device *d, uint8_t vector, uint32_t apic_id)
{
	unsigned int cap = pci_capability(d->bdf, CAP_MSI);
	uint32_t control, address = MESSAGE_ADDRESS | apic_id << 12;
	unsigned int data;

	if (!cap || apic_id > 254 || vector < 32)
		return false;
	control = pci_read(d->bdf, cap + 2, 2);
	data = cap + (control & MSI_64 ? 12 : 8);
	pci_write(d->bdf, cap + 4, 4, address);
	if (control & MSI_64)
		pci_write(d->bdf, cap + 8, 4, 0);
	pci_write(d->bdf, data, 2, vector);
	pci_write(d->bdf, cap + 2, 2, (control & ~0x70u) | MSI_ENABLE);
	return written(pci_read(d->bdf, cap + 4, 4), address) &&
	       pci_read(d->bdf, data, 2) == vector &&
	       (pci_read(d->bdf, cap + 2, 2) & MSI_ENABLE);
}

bool pci_msix(const struct qv_info_device *d, unsigned int n, uint8_t vector, uint32_t apic_id)
{
	unsigned int cap = pci_capability(d->bdf, CAP_MSIX);
	const struct qv_info_bar *bar;
	volatile uint32_t *entry;
	uint32_t control, place;

	if (!cap || apic_id > 254 || vector < 32)
		return false;
	control = pci_read(d->bdf, cap + 2, 2);
	place = pci_read(d->bdf, cap + 4, 4);
	bar = pci_bar(d, place & 7);
	if (!bar || bar->ports || n > (control & 0x7FF))
		return false;
	entry = (volatile uint32_t *)(uintptr_t)(bar->base + (place & ~7u) + 16 * n);
	entry[0] = MESSAGE_ADDRESS | apic_id << 12;
	entry[1] = 0;
	entry[2] = vector;
	entry[3] = 0;
	if (!written(entry[0], MESSAGE_ADDRESS | apic_id << 12) || entry[2] != vector)
		return false;
	pci_write(d->bdf, cap + 2, 2, (control & ~MSIX_ALL_MASKED) | MSIX_ENABLE);
	return pci_read(d->bdf, cap + 2, 2) & MSIX_ENABLE;
}
