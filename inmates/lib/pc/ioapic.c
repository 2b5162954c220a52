// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inmate/pc.h>

#define IOAPIC_VERSION		1
#define IOAPIC_ENTRY(pin)	(0x10 + 2 * (pin))
#define ENTRY_MASKED		(1u << 16)
#define ENTRY_LEVEL		(1u << 15)
#define ENTRY_LOW		(1u << 13)

static void write_register(uint32_t reg, uint32_t value)
{
	*(volatile uint32_t *)IOAPIC_PAGE = reg;
	*(volatile uint32_t *)(IOAPIC_PAGE + 0x10) = value;
}

static uint32_t read_register(uint32_t reg)
{
	*(volatile uint32_t *)IOAPIC_PAGE = reg;
	return *(volatile uint32_t *)(IOAPIC_PAGE + 0x10);
}

void ioapic_init(void)
{
	uint32_t last = read_register(IOAPIC_VERSION) >> 16 & 0xFF, pin;

	for (pin = 0; pin <= last; pin++)
		write_register(IOAPIC_ENTRY(pin), ENTRY_MASKED);
}

void ioapic_route(unsigned int pin, unsigned int vector, uint32_t apic_id)
{
	write_register(IOAPIC_ENTRY(pin) + 1, apic_id << 24);
	write_register(IOAPIC_ENTRY(pin), vector);
}

void ioapic_route_pci(unsigned int pin, unsigned int vector, uint32_t apic_id)
{
	ioapic_route(pin, vector | ENTRY_LEVEL | ENTRY_LOW, apic_id);
}

void ioapic_mask(unsigned int pin, bool masked)
{
	uint32_t entry = read_register(IOAPIC_ENTRY(pin)) & ~ENTRY_MASKED;

	write_register(IOAPIC_ENTRY(pin), masked ? entry | ENTRY_MASKED : entry);
}
