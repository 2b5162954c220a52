// SPDX-License-Identifier: GPL-2.0-only
/* Ports and PCI config space as the hardware has them, for the front end's checks. */
#include "core/cpu.h"
#include "core/pci.h"

u32 port_in(u32 port, u32 size)
{
	u32 value = ~0u;

	if (size == 1)
		asm volatile("inb %w1, %b0" : "+a"(value) : "d"(port));
	else if (size == 2)
		asm volatile("inw %w1, %w0" : "+a"(value) : "d"(port));
	else
		asm volatile("inl %w1, %0" : "+a"(value) : "d"(port));
	return value;
}

void port_out(u32 port, u32 size, u32 value)
{
	if (size == 1)
		asm volatile("outb %b0, %w1" : : "a"(value), "d"(port));
	else if (size == 2)
		asm volatile("outw %w0, %w1" : : "a"(value), "d"(port));
	else
		asm volatile("outl %0, %w1" : : "a"(value), "d"(port));
}

void config_select(u32 bdf, u32 reg)
{
	port_out(CONFIG_ADDRESS, 4, CONFIG_ENABLE | bdf << 8 | (reg & 0xfc));
}

u32 pci_config_get(struct pcpu *cpu, u32 bdf, u32 reg)
{
	u64 at = (u64)bdf << 12 | reg;

	if (at < me()->boot.ecam_len)
		return device_read(cpu, me()->boot.ecam_pa + at);
	if (me()->boot.ecam_len || reg >= 0x100)
		return ~0u;
	config_select(bdf, reg);
	return port_in(CONFIG_DATA, 4);
}

void pci_config_set(struct pcpu *cpu, u32 bdf, u32 reg, u32 value)
{
	u64 at = (u64)bdf << 12 | reg;

	if (at < me()->boot.ecam_len) {
		device_write(cpu, me()->boot.ecam_pa + at, value);
	} else if (!me()->boot.ecam_len && reg < 0x100) {
		config_select(bdf, reg);
		port_out(CONFIG_DATA, 4, value);
	}
}

u32 pci_cap(struct pcpu *cpu, u32 bdf, u32 id, u32 reg)
{
	bool any = pci_config_get(cpu, bdf, CFG_COMMAND) & STATUS_CAPS;
	u32 i, head, here = any ? pci_config_get(cpu, bdf, CFG_CAPS) & 0xfc : 0, at = 0;

	for (i = 0; i < PCI_CAPS_MAX && here >= 0x40; i++) {
		head = pci_config_get(cpu, bdf, here);
		if (here <= reg && here > at && (!id || (head & 0xff) == id))
			at = here;
		here = head >> 8 & 0xfc;
	}
	return at;
}

u32 pci_extended(struct pcpu *cpu, u32 bdf, u32 id)
{
	u32 i, head, at = 0x100;

	for (i = 0; i < PCI_CAPS_MAX && at >= 0x100; i++) {
		head = pci_config_get(cpu, bdf, at);
		if ((head & 0xffff) == id)
			return at;
		at = head >> 20 & 0xffc;
	}
	return 0;
}
