// SPDX-License-Identifier: GPL-2.0-only
/* Linux's writes to config space: by ECAM, by ports while ECAM exists, and by ports alone. */
#include <string.h>
#include "core/pci.h"
#include "core/ports.h"
#include "fake.h"
#include "fake_traps.h"
#include "svm/svm_exits.h"
#include "unit.h"

#define ECAM	0x8000000ull		/* address of config space in the fake RAM */
#define BUSES	4u
#define BAR	0xfe000000u		/* address of the BAR of the cell's function */

enum {
	HOST = 0, ENDPOINT = 0x20, PORT = 0x28, BESIDE = 0x30,
	PHYSICAL = 0x38, AMD_HOST = 0xc0, ISA = 0xf8, PMC = 0xfa, CELLS = 0x200, VIRTUAL = 0x60
};

/* ---- a small machine ---- */

static void put(u32 bdf, u32 reg, u32 value)
{
	ram_write32(ECAM + (bdf << 12) + reg, value);
}

static u32 get(u32 bdf, u32 reg)
{
	return ram_read32(ECAM + (bdf << 12) + reg);
}

static void put_bridge(u32 bdf, u32 secondary, u32 subordinate)
{
	put(bdf, 0x00, 0x000c1b36);
	put(bdf, 0x04, 0x00100007);
	put(bdf, 0x08, 0x06040000);
	put(bdf, 0x0c, 0x00010000);
	put(bdf, 0x18, subordinate << 16 | secondary << 8);
	put(bdf, 0x1c, 0x2020);
	put(bdf, 0x20, 0xfe00fe00);
	put(bdf, 0x24, 0x0001fff1);
	put(bdf, 0x3c, 0x00020100);
	put(bdf, 0x34, 0x40);
	put(bdf, 0x40, 0x00035001);		/* power management */
	put(bdf, 0x44, 0x00000008);
	put(bdf, 0x50, 0x00007005);		/* MSI */
	put(bdf, 0x70, 0x00420010);		/* PCI Express */
	put(bdf, 0x78, 0x00002810);
	put(bdf, 0x80, 0x10110000);
	put(bdf, 0x88, 0x004003c0);
	put(bdf, 0x100, 0x15010001);		/* extended capabilities: AER, then another one */
	put(bdf, 0x150, 0x0000000d);
}

/* A function with SR-IOV, whose virtual function VIRTUAL the cell has */
static void put_physical(u32 bdf)
{
	put(bdf, 0x00, 0x10c98086), put(bdf, 0x08, 0x02000000);
	put(bdf, 0x04, 0x00100006), put(bdf, 0x10, 0xfd100000), put(bdf, 0x34, 0x40);
	put(bdf, 0x40, 0x00035001), put(bdf, 0x44, 0x00000008);
	put(bdf, 0x50, 0x80097011);		/* MSI-X */
	put(bdf, 0x70, 0x00020010), put(bdf, 0x78, 0x00002810);
	put(bdf, 0x100, 0x16010001);		/* AER, then SR-IOV */
	put(bdf, 0x160, 0x00010010), put(bdf, 0x168, 0x9), put(bdf, 0x170, 2);
	put(bdf, 0x174, 0x00020080), put(bdf, 0x184, 0xfc000004);
}

static void machine(u32 running)
{
	static struct qv_mon_create cell;
	struct cell_slot *slot;
	u32 bdf;

	fake_open(true, true);
	me()->boot.ecam_pa = ECAM;
	me()->boot.ecam_len = BUSES << 20;
	for (bdf = 0; bdf < BUSES << 8; bdf++)
		put(bdf, 0, ~0u);
	put(HOST, 0x00, 0x29c08086), put(HOST, 0x08, 0x06000000), put(HOST, 0x60, 0xb0000001);
	put(AMD_HOST, 0x00, 0x14501022), put(AMD_HOST, 0x08, 0x06000000);
	put(ISA, 0x00, 0x29188086), put(ISA, 0x08, 0x06010002), put(ISA, 0x40, 0x601);
	put(PMC, 0x00, 0xa1218086), put(PMC, 0x08, 0x05800000);
	put(ENDPOINT, 0x00, 0x10d38086), put(ENDPOINT, 0x08, 0x02000000);
	put(ENDPOINT, 0x04, 0x2), put(ENDPOINT, 0x10, 0xfd000000), put(ENDPOINT, 0x14, 0xd001);
	put_bridge(PORT, 1, 2);
	put_bridge(BESIDE, 3, 3);
	put_physical(PHYSICAL);
	slot = &me()->manager.cells[1];
	slot->state = running ? QV_MON_RUNNING : QV_MON_CREATED;
	slot->taken = running;
	slot->q = &cell;
	cell.num_devices = 2;
	cell.devices[1] = (struct qv_mon_device){
		.bdf = VIRTUAL, .physical = PHYSICAL, .ioapic = QV_MON_NO_PIN,
	};
	cell.devices[0] = (struct qv_mon_device){
		.bdf = CELLS, .ioapic = QV_MON_NO_PIN,
		.bars = { { .base = BAR, .len = 0x4000 },
			  { .base = 0xc000, .len = 32, .ports = 1 } },
	};
	if (running)
		ports_stop(me(), 0xc000, 0xc01f, true);
}

/* ---- three ways to write ---- */

static u32 latch;

/* The same registers, accessed through 0xCF8 and 0xCFC */
static u32 by_address(u32 port, u32 size, bool in, u32 value)
{
	u32 bdf = latch >> 8 & 0xffff, reg = (latch & 0xfc) | (port & 3), shift = (port & 3) * 8;
	u32 mask = (size == 4 ? ~0u : (1u << size * 8) - 1) << shift, old;

	if (port == 0xcf8 && !in)
		latch = value;
	if (port < 0xcfc)
		return latch;
	old = latch >> 31 ? get(bdf, reg & ~3u) : ~0u;
	if (!in && latch >> 31)
		put(bdf, reg & ~3u, (old & ~mask) | (value << shift & mask));
	return old >> shift;
}

static void by_ecam(u32 bdf, u32 reg, u32 size, u32 value)
{
	struct vmcb *v = exit_store(ECAM + (bdf << 12) + reg, size, value);

	CHECK_EQ(v->event_inj, 0);
	CHECK_EQ(v->rip, SVM_RIP + (size == 2 ? 3 : 2));
}

static void by_data_port(u32 bdf, u32 reg, u32 size, u32 value)
{
	fake_in = 1u << 31 | (reg & 0xf00) << 16 | bdf << 8 | (reg & 0xfc);
	exit_port_of(0xcfc + (reg & 3), size, false, value);
}

/* Without ECAM, Linux's writes to 0xCF8 exit, too. */
static void by_both_ports(u32 bdf, u32 reg, u32 size, u32 value)
{
	me()->boot.ecam_len = 0;
	fake_ports = by_address;
	exit_port_of(0xcf8, 4, false, 1u << 31 | bdf << 8 | (reg & 0xfc));
	exit_port_of(0xcfc + (reg & 3), size, false, value);
	CHECK_EQ(latch, 1u << 31 | bdf << 8 | (reg & 0xfc));	/* the value that Linux wrote */
	fake_ports = NULL;
}

static const struct {
	const char *name;
	void (*write)(u32 bdf, u32 reg, u32 size, u32 value);
	u32 registers;
} ways[] = {
	{ "ECAM", by_ecam, 0x1000 },
	{ "0xCFC", by_data_port, 0x1000 },
	{ "ports", by_both_ports, 0x100 },
};

/* ---- writes that are carried out, and writes that are dropped ---- */

/* the write is carried out; carried out while no cell runs; dropped */
enum { ALWAYS, IDLE, NEVER };

#define WRITES(X) \
	X(config_space_over_ram, NEVER, HOST, 0x60, 4, 0x00100001) \
	X(config_space_by_a_byte, NEVER, HOST, 0x63, 1, 0x12) \
	X(host_anything, NEVER, HOST, 0x9c, 2, 0x1234) \
	X(amd_index, ALWAYS, AMD_HOST, 0x60, 4, 0x00059800) \
	X(amd_data, NEVER, AMD_HOST, 0x64, 4, 0x00059800) \
	X(amd_second_index, ALWAYS, AMD_HOST, 0xb8, 4, 0x13b102e8) \
	X(amd_second_data, NEVER, AMD_HOST, 0xbc, 4, 1) \
	X(index_of_others, NEVER, ISA, 0x60, 4, 0x80808080) \
	X(acpi_registers, NEVER, ISA, 0x40, 4, 0xb001) \
	X(power_registers, NEVER, PMC, 0x44, 4, 0xb0) \
	X(above_buses, IDLE, PORT, 0x18, 4, 0x00050500) \
	X(above_secondary, IDLE, PORT, 0x19, 1, 7) \
	X(above_timer, ALWAYS, PORT, 0x1b, 1, 0x40) \
	X(above_io_window, IDLE, PORT, 0x1c, 2, 0x3030) \
	X(above_status, ALWAYS, PORT, 0x1e, 2, 0xf900) \
	X(above_window, IDLE, PORT, 0x20, 4, 0xfd00fd00) \
	X(above_prefetchable, IDLE, PORT, 0x24, 4, 0xfd00fd00) \
	X(above_upper_base, IDLE, PORT, 0x28, 4, 1) \
	X(above_command, IDLE, PORT, 0x04, 2, 0x0000) \
	X(above_command_other, ALWAYS, PORT, 0x04, 2, 0x0507) \
	X(above_bus_reset, IDLE, PORT, 0x3e, 2, 0x0042) \
	X(above_line, ALWAYS, PORT, 0x3c, 1, 0x0b) \
	X(above_cache_line, ALWAYS, PORT, 0x0c, 1, 0x10) \
	X(above_self_test, IDLE, PORT, 0x0f, 1, 0x40) \
	X(above_power, IDLE, PORT, 0x44, 2, 0x000b) \
	X(above_power_event, ALWAYS, PORT, 0x44, 2, 0x8108) \
	X(above_message, ALWAYS, PORT, 0x54, 4, 0xfee01000) \
	X(above_message_on, ALWAYS, PORT, 0x52, 2, 1) \
	X(above_payload, IDLE, PORT, 0x78, 2, 0x2830) \
	X(above_errors, ALWAYS, PORT, 0x78, 2, 0x281f) \
	X(above_link_disable, IDLE, PORT, 0x80, 2, 0x0010) \
	X(above_link_retrain, IDLE, PORT, 0x80, 2, 0x0020) \
	X(above_link_states, ALWAYS, PORT, 0x80, 2, 0x0002) \
	X(above_slot_power, IDLE, PORT, 0x88, 2, 0x07c0) \
	X(above_slot_events, ALWAYS, PORT, 0x88, 2, 0x13f8) \
	X(above_ari, IDLE, PORT, 0x98, 2, 0x0020) \
	X(above_speed, IDLE, PORT, 0xa0, 2, 1) \
	X(above_unknown, IDLE, PORT, 0xd8, 4, 1) \
	X(above_aer_status, ALWAYS, PORT, 0x104, 4, 0x4000) \
	X(above_aer_end, ALWAYS, PORT, 0x134, 4, 1) \
	X(above_after_aer, IDLE, PORT, 0x138, 4, 1) \
	X(above_acs, IDLE, PORT, 0x154, 4, 1) \
	X(beside_buses, IDLE, BESIDE, 0x18, 4, 0x00020100) \
	X(beside_window, IDLE, BESIDE, 0x20, 4, 0xfe00fe00 ^ 0x10) \
	X(beside_reset, ALWAYS, BESIDE, 0x3e, 2, 0x0042) \
	X(beside_power, ALWAYS, BESIDE, 0x44, 2, 0x000b) \
	X(virtual_off, IDLE, PHYSICAL, 0x168, 2, 0) \
	X(virtual_memory_off, IDLE, PHYSICAL, 0x168, 1, 1) \
	X(virtual_the_same, ALWAYS, PHYSICAL, 0x168, 2, 9) \
	X(virtual_ari, IDLE, PHYSICAL, 0x168, 2, 0x19) \
	X(virtual_number, IDLE, PHYSICAL, 0x170, 2, 1) \
	X(virtual_page_size, IDLE, PHYSICAL, 0x180, 4, 2) \
	X(virtual_bar, IDLE, PHYSICAL, 0x184, 4, 0xfb000004) \
	X(virtual_bar_by_a_byte, IDLE, PHYSICAL, 0x187, 1, 0xfb) \
	X(virtual_last_bar, IDLE, PHYSICAL, 0x198, 4, 1) \
	X(physical_reset, IDLE, PHYSICAL, 0x78, 2, 0xa810) \
	X(physical_sleep, IDLE, PHYSICAL, 0x44, 2, 0x000b) \
	X(physical_self_test, IDLE, PHYSICAL, 0x0f, 1, 0x40) \
	X(physical_messages, ALWAYS, PHYSICAL, 0x52, 2, 0) \
	X(physical_errors, ALWAYS, PHYSICAL, 0x104, 4, 0x4000) \
	X(physical_aer_head, IDLE, PHYSICAL, 0x100, 4, 0) \
	X(physical_line, ALWAYS, PHYSICAL, 0x3c, 1, 5) \
	X(cells_own, IDLE, CELLS, 0x04, 2, 7) \
	X(bar_moved, IDLE, ENDPOINT, 0x10, 4, BAR) \
	X(bar_the_same, ALWAYS, ENDPOINT, 0x10, 4, 0xfd000000) \
	X(rom_over_a_cell, IDLE, ENDPOINT, 0x30, 4, BAR | 0x1001) \
	X(rom_over_ram, IDLE, ENDPOINT, 0x30, 4, 0x00800001) \
	X(rom_elsewhere, ALWAYS, ENDPOINT, 0x30, 4, 0xfd800001) \
	X(rom_off, ALWAYS, ENDPOINT, 0x30, 4, BAR) \
	X(interrupt_line, ALWAYS, ENDPOINT, 0x3c, 1, 5)

static void judge(u32 way, u32 running, u32 when, u32 bdf, u32 reg, u32 size, u32 value)
{
	u32 shift = (reg & 3) * 8, mask = (size == 4 ? ~0u : (1u << size * 8) - 1) << shift;
	u32 before, after;
	bool want = when == ALWAYS || (when == IDLE && !running);

	machine(running);
	if (reg >= ways[way].registers)
		return;
	before = get(bdf, reg & ~3u);
	ways[way].write(bdf, reg, size, value);
	after = get(bdf, reg & ~3u);
	CHECK_EQ(after, want ? (before & ~mask) | (value << shift & mask) : before);
	CHECK_EQ(pcpu_of(0)->status->denied, !want);
}

static void each_write(void)
{
	u32 way, running;

	for (way = 0; way < sizeof(ways) / sizeof(ways[0]); way++)
		for (running = 0; running < 2; running++) {
#define X(which, when, bdf, reg, size, value) \
			unit_case("%s by %s, %s:", #which, ways[way].name, \
				  running ? "a cell runs" : "no cell runs"); \
			judge(way, running, when, bdf, reg, size, value);
			WRITES(X)
#undef X
		}
}

/* Decoding can be enabled only if the function's registers overlap no others. */
static void decoding(void)
{
	static const struct { u32 low, high, command; bool ok; } cases[] = {
		{ 0xfd000000, 0, 2, true }, { BAR + 0x3ff0, 0, 2, false },
		{ BAR + 0x4000, 0, 2, true },
		{ 0x00200000, 0, 2, false }, { 0xd001, 0, 1, true }, { 0xc011, 0, 1, false },
		/* decoding of I/O ports stays disabled */
		{ 0xc011, 0, 2, true },
		/* 64 bits */
		{ BAR + 0x1000 + 4, 0, 2, false }, { BAR + 0x1000 + 4, 0x10, 2, true },
	};
	u32 i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unit_case("case %u:", i);
		machine(1);
		put(ENDPOINT, 0x04, 0);
		put(ENDPOINT, 0x14, 0);
		/* while decoding is off, Linux may size the BAR */
		by_ecam(ENDPOINT, 0x10, 4, ~0u);
		CHECK_EQ(get(ENDPOINT, 0x10), ~0u);
		by_ecam(ENDPOINT, 0x10, 4, cases[i].low);
		by_ecam(ENDPOINT, 0x14, 4, cases[i].high);
		CHECK_EQ(pcpu_of(0)->status->denied, 0);
		by_ecam(ENDPOINT, 0x04, 2, cases[i].command);
		CHECK_EQ(get(ENDPOINT, 0x04), cases[i].ok ? cases[i].command : 0);
		CHECK_EQ(pcpu_of(0)->status->denied, !cases[i].ok);
		CHECK_EQ(get(ENDPOINT, 0x10), cases[i].low);
		CHECK_EQ(get(ENDPOINT, 0x14), cases[i].high);
	}
}

/*
 * An access that is not a simple store faults and changes nothing. Reads by ports work without
 * ECAM.
 */
static void odd_accesses(void)
{
	struct vmcb *v;

	machine(1);
	v = exit_store(ECAM + (HOST << 12) + 0x62, 4, 0);
	CHECK(v->event_inj);
	v->event_inj = 0;
	CHECK_EQ(get(HOST, 0x60), 0xb0000001);
	me()->boot.ecam_len = 0;
	fake_ports = by_address;
	exit_port_of(0xcf8, 4, false, 1u << 31 | HOST << 8 | 0x60);
	CHECK_EQ(exit_port_of(0xcf8, 4, true, 0), 1u << 31 | HOST << 8 | 0x60);
	CHECK_EQ(exit_port_of(0xcfe, 2, true, 0), 0xb000);
	exit_port_of(0xcf8, 4, false, 1u << 31 | CELLS << 8);
	CHECK_EQ(exit_port_of(0xcfc, 4, true, 0), ~0u);
	fake_ports = NULL;
	fake_in = ~0u;
}

UNIT_SUITE(pci_guard) = {
	{ "pci: Linux's config writes are filtered", each_write },
	{ "pci: Linux enables decoding only without overlap", decoding },
	{ "pci: other instructions on config space fault", odd_accesses },
	{ 0 }
};
