// SPDX-License-Identifier: GPL-2.0-only
#include "core/pci.h"
#include "core/cpu.h"
#include "fake.h"
#include "pci_world.h"

void pci_world_function(u32 bdf, u64 bar)
{
	const struct { u32 reg, value; } registers[] = {
		{ 0, 0x11e81234 }, { 4, 1u << 20 | 7 }, { 8, 0x00ff0010 }, { 0x0c, 0 },
		{ 0x10, bar }, { 0x18, 0xc000 | 1 }, { 0x34, 0x40 },
		{ 0x40, 0x00816005 },		/* MSI capability: 64-bit, enabled */
		{ 0x60, 0x80030011 },		/* MSI-X capability: four entries, enabled */
		{ 0x64, 0x1800 },
	};
	u32 i;

	for (i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		device_write(pcpu_of(0), FAKE_ECAM + (bdf << 12) + registers[i].reg,
			     registers[i].value);
}

struct qv_mon_device pci_world_device(u32 bdf, u64 bar)
{
	return (struct qv_mon_device){
		.bdf = bdf, .flags = QV_MON_DEVICE_MASTER, .ioapic = QV_MON_NO_PIN,
		.bars = { { .base = bar, .len = 0x4000 }, { 0 },
			  { .base = 0xc000, .len = 32, .ports = 1 } },
	};
}
