// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules for I/O ports. A cell gets the ports that its list names (law 4), but never a port of
 * this table, whatever root requests: each of these affects all cells. Linux keeps all ports, since
 * it can stop its own machine in other ways too. A write that stops every CPU without a trace is
 * logged. A write that would take RAM or a CPU away from the monitor is dropped (guards: ACPI says
 * where they are). scripts/ports makes the table of Documentation/reference/ports.md.
 */
#include "ports.h"
#include "vendor.h"

/* Ports that no cell may have, and why */
static const struct qv_mon_ports port_rules[] = {
	{ 0x0000, 0x001f },	/* DMA controller 1: reaches all memory */
	{ 0x0020, 0x0021 },	/* interrupt controller 1: Linux's */
	{ 0x002e, 0x002f },	/* Super-I/O: moves, switches and resets the board's devices */
	{ 0x0040, 0x0043 },	/* PIT: Linux's timer and clock */
	{ 0x004e, 0x004f },	/* Super-I/O, the other place */
	{ 0x0060, 0x0060 },	/* keyboard controller, data: completes a command to 0x64 */
	{ 0x0061, 0x0061 },	/* NMI status and control, speaker */
	{ 0x0062, 0x0062 },	/* embedded controller, data: fans, batteries, power */
	{ 0x0064, 0x0064 },	/* keyboard controller, command: pulses the reset line */
	{ 0x0066, 0x0066 },	/* embedded controller, command */
	{ 0x0070, 0x0077 },	/* CMOS clock, and the NMI mask in bit 7 of 0x70 */
	{ 0x0081, 0x008f },	/* DMA page registers */
	{ 0x0092, 0x0092 },	/* fast reset and A20 */
	{ 0x00a0, 0x00a1 },	/* interrupt controller 2 */
	{ 0x00b2, 0x00b3 },	/* SMI command: firmware stops every CPU as long as it likes */
	{ 0x00c0, 0x00df },	/* DMA controller 2 */
	{ 0x04d0, 0x04d1 },	/* interrupt controllers: edge or level */
	{ 0x0cd4, 0x0cd7 },	/* AMD's chipset: power management registers, by index */
	{ 0x0cf8, 0x0cff },	/* PCI config space (for devices: filtered), reset control */
};

static bool ports_overlap(u32 a, u32 b, u32 first, u32 last)
{
	return a <= last && first <= b;
}

bool ports_never(const struct qv_mon_boot *boot, u32 first, u32 last)
{
	u32 i;

	for (i = 0; i < sizeof(port_rules) / sizeof(port_rules[0]); i++)
		if (ports_overlap(first, last, port_rules[i].first, port_rules[i].last))
			return true;
	for (i = 0; i < boot->num_firmware_ports && i < QV_MON_FIRMWARE_PORTS; i++)
		if (ports_overlap(first, last, boot->firmware_ports[i].first,
				  boot->firmware_ports[i].last))
			return true;
	for (i = 0; i < boot->num_guards && i < QV_MON_GUARDS; i++)
		if (ports_overlap(first, last, boot->guards[i].first, boot->guards[i].last))
			return true;
	return false;
}

/* Linux exits at ports of cells, and at some that no cell may have */
bool ports_claimed(const struct instance *inst, u32 first, u32 last)
{
	for (; first <= last && first < 0x10000; first++)
		if (inst->port_map[first / 8] >> first % 8 & 1 &&
		    !ports_never(&inst->boot, first, first))
			return true;
	return false;
}

void ports_stop(struct instance *inst, u32 first, u32 last, bool stop)
{
	u8 *map = inst->port_map;
	u32 port;

	for (port = first; port <= last; port++)
		map[port / 8] = stop ? map[port / 8] | 1u << port % 8 :
				map[port / 8] & ~(1u << port % 8);
}

void ports_front(void)
{
	const struct qv_mon_boot *b = &me()->boot;
	u32 i;

	ports_stop(me(), PORT_SMI, PORT_SMI_LAST, true);
	for (i = 0; i < b->num_guards && i < QV_MON_GUARDS; i++)
		ports_stop(me(), b->guards[i].first, b->guards[i].last, true);
	ports_stop(me(), 0xcfc, 0xcff, true);
	if (!me()->boot.ecam_len)
		/* the config address is a dword at 0xCF8; 0xCF9 as a byte is reset control */
		ports_stop(me(), 0xcf8, 0xcf8, true);
}

const struct qv_mon_guard *ports_guard(u32 port, u32 size, u32 value)
{
	const struct qv_mon_boot *b = &me()->boot;
	u32 i, at;

	for (i = 0; i < b->num_guards && i < QV_MON_GUARDS; i++)
		for (at = 0; at < size; at++) {
			const struct qv_mon_guard *g = &b->guards[i];
			u8 byte = value >> at * 8;

			if (ports_overlap(port + at, port + at, g->first, g->last) &&
			    (!g->bits || byte & g->bits) && (byte & g->mask) != g->value)
				return g;
		}
	return NULL;
}

void port_result(struct pcpu *cpu, u32 size, u32 value)
{
	u64 *rax = &cpu->regs[GPR_RAX], keep = size == 4 ? 0 : ~0ull << size * 8;

	*rax = (*rax & keep) | (value & ~keep);
}
