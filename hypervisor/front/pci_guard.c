// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides which writes Linux may make to the config space of its own functions, since the monitor
 * and the cells rely on some of their settings:
 *
 * - Chipset (host bridges, ISA bridges and all others except PCI-to-PCI bridges; memory and power
 *   controllers): these functions place config space, RAM, and the registers of ACPI and of the
 *   firmware. While QV is enabled, Linux may write none of their registers except AMD's index
 *   registers, by which it reads temperatures. The data registers behind these stay read-only.
 * - A PCI-to-PCI bridge above a cell's function: Linux may change interrupts and status, but no
 *   setting by which the cell's function would move, vanish, or be reset.
 * - A function whose virtual function (SR-IOV) a cell has: the same rules. They also fix VF Enable,
 *   the number of virtual functions and their BARs, the power state and the function's own reset.
 * - Any other bridge, while a cell has a function: Linux may not change its buses and windows.
 * - Any other function, while a cell runs: Linux may not place its registers over RAM or over a
 *   range of a cell.
 *
 * PCI-to-PCI Bridge Architecture 1.2, 3.2; PCI Express Base 5.0, 7.5 and 7.8.4;
 * PCI Power Management 1.2, 3.2; AMD family 17h PPR, SMN access by 00:00.0.
 */
#include "front.h"
#include "core/pci.h"
#include "core/ports.h"
#include "tables/nested.h"

#define CFG_ID		0x00
/* bridges: primary, secondary and subordinate bus number, and a timer */
#define CFG_BUSES	0x18
#define CFG_WINDOWS	0x1c		/* bridges: first dword of the windows */
#define CFG_IO_UPPER	0x30		/* bridges: last dword of the windows */
#define CFG_BRIDGE_ROM	0x38
#define CLASS_HOST	0x0600
#define CLASS_PCI	0x0604
#define CLASS_PCI_HALF	0x0609		/* semi-transparent */
/* memory controller, other: Intel's power management and sideband */
#define CLASS_CHIPSET	0x0580
#define HEADER_BRIDGE	1
#define VENDOR_AMD	0x1022
#define DECODE_IO	1u
#define DECODE_MEMORY	2u

#define CAP_PM		0x01
#define CAP_EXPRESS	0x10
#define CAP_AER		0x0001		/* capability in extended config space */
#define AER_LEN		0x38
#define HEADER		0		/* not a capability: the function's header */

/*
 * Dwords that Linux may write in a bridge above a cell's function, or in the physical function of a
 * cell's virtual function, and their fixed bits
 */
static const struct { u8 cap, reg; u32 fixed; } bridge_rules[] = {
	/* command: decoding, and forwarding upstream, are fixed */
	{ HEADER, CFG_COMMAND, 0x7 },
	/* BIST: a write there starts the self-test */
	{ HEADER, CFG_HEADER, 0xff000000 },
	{ HEADER, CFG_BUSES, 0xffffff },
	/* windows: the upper half of the dword is status */
	{ HEADER, CFG_WINDOWS, 0xffff },
	/* bridge control: the bits for bus reset and others are fixed */
	{ HEADER, 0x3c, 0xffff0000 },
	{ CAP_PM, 4, 0x3 },				/* power state */
	/* device control: payload size and reset are fixed */
	{ CAP_EXPRESS, 0x08, 0x80e0 },
	/* link control: the bits that disable and retrain the link are fixed */
	{ CAP_EXPRESS, 0x10, 0x30 },
	{ CAP_EXPRESS, 0x18, 0xc00 },			/* slot control: power and lock are fixed */
	/* root control: Linux may change interrupts and status */
	{ CAP_EXPRESS, 0x1c, 0 }, { CAP_EXPRESS, 0x20, 0 },
	/* device control 2: ARI forwarding changes device numbers on the bus below */
	{ CAP_EXPRESS, 0x28, 0x20 },
	/* link control 2: speed and compliance are fixed */
	{ CAP_EXPRESS, 0x30, 0xffff },
	{ CAP_MSI, 0x00, 0 }, { CAP_MSI, 0x04, 0 }, { CAP_MSI, 0x08, 0 },
	{ CAP_MSI, 0x0c, 0 }, { CAP_MSI, 0x10, 0 }, { CAP_MSIX, 0x00, 0 },
};

/* ---- whose ---- */

static bool cell_has_registers(u64 base, u64 len)
{
	const struct qv_mon_device *d;
	const struct qv_mon_bar *bar;

	FOR_EACH_DEVICE(d, taken)
		for (bar = d->bars; bar < d->bars + QV_MON_BARS; bar++)
			if (bar->len && !bar->ports && overlaps(base, len, bar->base, bar->len))
				return true;
	return false;
}

/* True if a cell is between start and destroy */
static bool cell_exists(void)
{
	const struct cell_slot *slot;

	for (slot = me()->manager.cells; slot < me()->manager.cells + QV_INSTANCES; slot++)
		if (slot->taken)
			return true;
	return false;
}

/* ---- bridges, and functions with virtual functions ---- */

/* Returns the fixed bits of the dword at @reg in a function on which a cell's function depends */
static u32 fixed_above(struct pcpu *cpu, u32 bdf, u32 reg)
{
	u32 i, at = 0, id = HEADER;

	if (reg >= 0x100)	/* Linux may write AER, except for its first dword */
		return reg - pci_extended(cpu, bdf, CAP_AER) - 1 < AER_LEN - 1 ? 0 : ~0u;
	if (reg >= 0x40) {
		at = pci_cap(cpu, bdf, HEADER, reg);
		id = pci_config_get(cpu, bdf, at) & 0xff;
		if (!at || id == HEADER)
			return ~0u;
	}
	for (i = 0; i < sizeof(bridge_rules) / sizeof(bridge_rules[0]); i++)
		if (bridge_rules[i].cap == id && bridge_rules[i].reg == reg - at)
			return bridge_rules[i].fixed;
	return ~0u;
}

/* Returns the fixed bits of the dword at @reg in any other bridge */
static u32 fixed_beside(u32 reg)
{
	return reg == CFG_BUSES ? 0xffffff : reg == CFG_WINDOWS ? 0xffff :
	       reg > CFG_WINDOWS && reg <= CFG_IO_UPPER ? ~0u : 0;
}

static u32 fixed_bits(struct pcpu *cpu, u32 bdf, u32 reg, bool bridge)
{
	u32 buses = bridge ? pci_config_get(cpu, bdf, CFG_BUSES) : 0, fixed = 0;
	const struct qv_mon_device *d;

	FOR_EACH_DEVICE(d, taken) {
		/* bus 0 is behind no bridge */
		if (d->physical == bdf || (d->bdf >> 8 && d->bdf >> 8 >= (buses >> 8 & 0xff) &&
					   d->bdf >> 8 <= (buses >> 16 & 0xff)))
			return fixed_above(cpu, bdf, reg);
		fixed = bridge ? fixed_beside(reg) : 0;
	}
	return fixed;
}

/* ---- where other functions have their registers ---- */

/* Returns true if [@base, +@len) overlaps RAM, or a range of a cell */
static bool is_taken(u64 base, u64 len, bool io)
{
	return io ? ports_claimed(me(), base, base + len - 1) :
	       cell_has_registers(base, len) || ram_has(&me()->boot, base, len, false);
}

/*
 * Writes @mask to the BAR's dword at @reg, reads it back, and restores it. Returns the bits of
 * @mask that read as ones: they tell the BAR's size. The function must not decode by this BAR
 * meanwhile.
 */
static u32 size_bits(struct pcpu *cpu, u32 bdf, u32 reg, u32 mask)
{
	u32 old = pci_config_get(cpu, bdf, reg), found;

	pci_config_set(cpu, bdf, reg, mask);
	found = pci_config_get(cpu, bdf, reg) & mask;
	pci_config_set(cpu, bdf, reg, old);
	return found;
}

/* Returns true if the ROM would overlap RAM or a range of a cell, with @value as its BAR */
static bool rom_taken(struct pcpu *cpu, u32 bdf, u32 reg, u32 value)
{
	u32 found = size_bits(cpu, bdf, reg, ~0x7ffu);

	return found && is_taken(value & ~0x7ffu, found & -found, false);
}

/*
 * Returns true if the range of the BAR at *@reg overlaps RAM or a range of a cell. False if @decode
 * does not switch on BARs of this kind. Sets *@reg to the last dword of the BAR.
 */
static bool bar_taken(struct pcpu *cpu, u32 bdf, u32 *reg, u32 decode)
{
	u32 low = pci_config_get(cpu, bdf, *reg), io = low & 1, mask = io ? ~3u : ~0xfu;
	u64 base = low & mask, found;
	u32 at = *reg;

	*reg += !io && (low & 6) == 4 ? 4 : 0;
	if (!(decode & (io ? DECODE_IO : DECODE_MEMORY)))
		return false;
	found = size_bits(cpu, bdf, at, mask);
	if (*reg != at) {
		base |= (u64)pci_config_get(cpu, bdf, *reg) << 32;
		found |= (u64)size_bits(cpu, bdf, *reg, ~0u) << 32;
	}
	/* a BAR with address 0 is not placed */
	return base && found && is_taken(base, found & -found, io);
}

/* A write that switches decoding on, moves what is decoded, or enables a ROM */
static bool moves_over(struct pcpu *cpu, u32 bdf, u32 reg, u32 old, u32 new, bool bridge)
{
	u32 cmd = pci_config_get(cpu, bdf, CFG_COMMAND), rom = bridge ? CFG_BRIDGE_ROM : CFG_ROM;
	u32 at, last = bridge ? 0x14 : 0x24, decode = new & ~old & (DECODE_IO | DECODE_MEMORY);

	if (reg == rom)
		return (new & 1) && (cmd & DECODE_MEMORY) && rom_taken(cpu, bdf, rom, new);
	if (reg >= CFG_BARS && reg <= last)
		return (cmd & (DECODE_IO | DECODE_MEMORY)) && new != old;
	if (reg != CFG_COMMAND || !decode)
		return false;
	for (at = CFG_BARS; at <= last; at += 4)
		if (bar_taken(cpu, bdf, &at, decode))
			return true;
	at = pci_config_get(cpu, bdf, rom);
	return (decode & DECODE_MEMORY) && (at & 1) && rom_taken(cpu, bdf, rom, at);
}

/* ---- the decision ---- */

static bool is_chipset(u32 class)
{
	return class == CLASS_CHIPSET ||
	       (class >> 8 == CLASS_HOST >> 8 && class != CLASS_PCI && class != CLASS_PCI_HALF);
}

/* AMD's index register: a write here only selects the register that the next dword shows */
static bool is_index(struct pcpu *cpu, u32 bdf, u32 class, u32 reg)
{
	return class == CLASS_HOST && (pci_config_get(cpu, bdf, CFG_ID) & 0xffff) == VENDOR_AMD &&
	       (reg == 0x60 || reg == 0xb8);
}

bool pci_guard(struct pcpu *cpu, u32 bdf, u32 reg, u32 value, u32 mask)
{
	u32 class = pci_config_get(cpu, bdf, CFG_CLASS) >> 16;
	bool bridge = (pci_config_get(cpu, bdf, CFG_HEADER) >> 16 & 0x7f) == HEADER_BRIDGE;
	u32 old = pci_config_get(cpu, bdf, reg), new = (old & ~mask) | (value & mask);

	if (is_chipset(class))
		return is_index(cpu, bdf, class, reg);
	return !((old ^ new) & fixed_bits(cpu, bdf, reg, bridge)) &&
	       (!cell_exists() || !moves_over(cpu, bdf, reg, old, new, bridge));
}
