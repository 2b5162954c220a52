// SPDX-License-Identifier: GPL-2.0-only
/*
 * PCI functions of cells: the filters compared with slow judges, then config writes, ports, message
 * tables.
 */
#include <string.h>
#include "core/decode.h"
#include "tables/nested.h"
#include "core/pci.h"
#include "fake.h"
#include "svm/svm_exits.h"
#include "unit.h"

#define ECAM	0x8000000ull		/* an address in the fake RAM, for tests of single exits */
#define OWN	0x28u			/* 00:05.0 */
#define TABLE	0xa000100ull

/* ---- filters ---- */

/*
 * Returns true if CPU @cpu accepts a message to @dest, as the manuals say. For a CPU in x2APIC mode
 * its former logical id counts, too: the CPU has that id again when it returns to xAPIC mode.
 */
static bool judge_hears(const struct icr_map *map, u32 cpu, bool logical, u32 dest)
{
	if (!logical)
		return dest == 0xff || map->apic_id[cpu] == dest;
	if ((map->x2 >> cpu & 1) && (dest >> map->apic_id[cpu] & 1))
		return true;
	if (map->cluster)
		return dest >> 4 == map->ldr[cpu] >> 4 && (dest & map->ldr[cpu] & 15);
	return dest & map->ldr[cpu];
}

static void message_addresses(void)
{
	struct icr_map map = { .num = 3, .own_cpus = 5, .apic_id = { 3, 7, 0x40 } };
	u32 i;

	for (i = 0; i < 0x100000; i++) {
		u32 value = (i & 1 ? 0xfee00000 : (u32)rnd()) | (u32)rnd_below(1u << 20);
		u32 dest = value >> 12 & 0xff;
		bool want = value >> 20 == 0xfee && !(value & 0xfff) && (dest == 3 || dest == 0x40);

		if (i < 256)
			value = 0xfee00000 | i << 12, want = i == 3 || i == 0x40;
		if (pci_value(&map, PCI_MSI_ADDRESS, 0, value) != (want ? value : -1ll)) {
			unit_case("address %#x:", value);
			CHECK(!"agrees with the judge");
		}
	}
}

static void message_data(void)
{
	struct icr_map map = { .num = 0 };
	u32 value;

	for (value = 0; value < 0x20000; value++) {
		u32 mode = value >> 8 & 7;
		bool want = (value & 0xff) >= 32 && mode <= 1 && !(value & 0x8000) &&
			    !(value & 0x3800) && !(value >> 16);

		if (pci_value(&map, PCI_MSI_DATA, 0, value) != (want ? value : -1ll)) {
			unit_case("data %#x:", value);
			CHECK(!"agrees with the judge");
		}
	}
	CHECK(pci_value(&map, PCI_ZERO, 0, 1) == -1 && !pci_value(&map, PCI_ZERO, 0, 0));
	CHECK_EQ(pci_value(&map, PCI_ANY, 0, ~0u), ~0u);
}

static void ioapic_entries(void)
{
	struct icr_map map = { .num = 4, .apic_id = { 0, 1, 2, 3 } };
	u32 round, i;

	for (round = 0; round < 400000; round++) {
		u32 low = rnd_below(0x10000), high = (u32)rnd_below(256) << 24;
		u32 dest = high >> 24, all = 0, mode = low >> 8 & 7;
		bool logical = low & 0x800, stranger = false, want;

		map.own_cpus = rnd_below(16);
		map.x2 = rnd_below(16) & ~map.own_cpus;
		map.cluster = round & 1;
		map.remapped = round & 4;
		for (i = 0; i < 4; i++)
			map.ldr[i] = map.cluster ? (i / 2) << 4 | 1u << i % 2 :
				     1u << (round & 8 ? 3 - i : i);
		if (round & 2)
			high &= 0x0f000000 | 0x33000000, dest = high >> 24;
		for (i = 0; i < 4; i++)
			if (judge_hears(&map, i, logical, dest))
				all |= 1u << i;
		/*
		 * An unknown CPU may also receive the message: its destination has a bit or an id
		 * of no known CPU.
		 */
		if (!logical)
			stranger = dest > 3;
		else if (map.cluster)
			stranger = dest >> 4 > 1 || (dest & 12);
		else
			stranger = dest & 0xf0;
		want = all && !(all & ~map.own_cpus) && !stranger && mode <= 1;
		unit_case("low %#x, dest %#x, own %lx, x2 %lx, cluster %u:", low, dest,
			  map.own_cpus, map.x2, map.cluster);
		if (ioapic_entry_ok(&map, low, high) != want)
			CHECK(!"agrees with the judge");
		CHECK(ioapic_entry_ok(&map, low | 1u << 16, high));
		CHECK_EQ(ioapic_entry_ok(&map, low, high | 1u << 16), map.remapped || want);
		CHECK(!ioapic_entry_ok(&map, low, high | 1u << (17 + round % 7)));
	}
}

/*
 * CPU 1 of Linux has the logical id 4, which is that of APIC id 2 in x2APIC mode. Linux's entry for
 * CPU 1 reaches the cell's CPU too, but only while that CPU is in x2APIC mode.
 */
static void ioapic_x2(void)
{
	struct icr_map map = {
		.num = 3, .own_cpus = 3, .apic_id = { 0, 1, 2 }, .ldr = { 1, 4, 2 }, .x2 = 1 << 2,
	};

	CHECK(!ioapic_entry_ok(&map, 0x840, 4u << 24));
	CHECK(!ioapic_entry_ok(&map, 0x940, 5u << 24));
	CHECK(ioapic_entry_ok(&map, 0x940, 1u << 24));
	CHECK(ioapic_entry_ok(&map, 0x040, 1u << 24));		/* physical: the id alone counts */
	map.apic_id[2] = 10;			/* its logical id has no place in eight bits */
	CHECK(ioapic_entry_ok(&map, 0x840, 4u << 24));
	map.apic_id[2] = 2, map.x2 = 0;
	CHECK(ioapic_entry_ok(&map, 0x840, 4u << 24));
}

/* ---- single exits of a cell ---- */

static void prepare(void)
{
	struct pci_cell *p = &me()->cell.pci;
	u32 i;

	fake_open(true, true);
	fake_become_cell();
	me()->boot.ecam_pa = ECAM;
	me()->boot.ecam_len = 1 << 20;
	me()->req.num_devices = 1;
	p->num_rules = 3;
	p->rules[0] = (struct pci_rule){ OWN << 12 | 4, PCI_ANY, 0x403, 0xffff, 0 };
	p->rules[1] = (struct pci_rule){ OWN << 12 | 0x44, PCI_MSI_ADDRESS, ~0u, ~0u, 0 };
	p->rules[2] = (struct pci_rule){ OWN << 12 | 0x4c, PCI_MSI_DATA, 0xffff, 0xffff, 0 };
	p->tables[0] = (struct pci_table){ TABLE, TABLE + 0x40, TABLE & -4096ull, 4096, 0 };
	for (i = 0; i < 0x1000; i++)
		fake_ram[ECAM + (OWN << 12) + i] = i * 7;
	ram_write32(ECAM + (OWN << 12) + 4, 0xf900ff80);
	ram_write32(ECAM + (OWN << 12) + 0x44, 0xfee00000);
	ram_write32(ECAM + (OWN << 12) + 0x4c, 0xabcd0040);
}

struct judge { u8 bytes[0x1000]; };

/* Writes one byte after another. The mask has the bits that may change */
static void judge_write(struct judge *j, u32 reg, u32 size, u32 value)
{
	u8 old[0x1000];
	u32 i, data;

	memcpy(old, j->bytes, sizeof(old));
	for (i = reg; i < reg + size; i++) {
		u8 b = value >> (i - reg) * 8;

		if (i == 4)
			j->bytes[i] = (old[i] & ~3) | (b & 3);
		else if (i == 5)
			j->bytes[i] = (old[i] & ~4) | (b & 4);
		else if ((i >= 0x44 && i < 0x48) || i == 0x4c || i == 0x4d)
			j->bytes[i] = b;
	}
	if (reg / 4 == 1)
		/* the model stores the zeros that are written; a device would not */
		j->bytes[6] = j->bytes[7] = 0;
	if (reg / 4 == 0x4c / 4)
		j->bytes[0x4e] = j->bytes[0x4f] = 0;
	memcpy(&data, j->bytes + 0x44, 4);
	if (data >> 20 != 0xfee || (data & 0xfff) || (data >> 12 & 0xff) % 2 ||
	    (data >> 12 & 0xff) > 6)
		memcpy(j->bytes + 0x44, old + 0x44, 4);
	memcpy(&data, j->bytes + 0x4c, 4);
	if ((data & 0xff) < 32 || (data & 0xb600) || (data & 0x3800))
		memcpy(j->bytes + 0x4c, old + 0x4c, 4);
}

static void config_writes(void)
{
	static const u32 sizes[] = { 1, 2, 4 };
	static const u32 special[] = { 4, 0x44, 0x4c };
	struct judge j;
	u32 round;

	prepare();
	memcpy(j.bytes, fake_ram + ECAM + (OWN << 12), sizeof(j.bytes));
	for (round = 0; round < 20000; round++) {
		u32 size = sizes[rnd_below(3)];
		u32 reg = rnd_below(2) ? special[rnd_below(3)] + rnd_below(4) : rnd_below(0x200);
		u32 value = rnd_below(2) ? (u32)rnd() : 0xfee00000 | (u32)rnd_below(10) << 12;

		reg &= -size;
		if (rnd_below(4) == 0)
			value = rnd_below(0x200);
		unit_case("%u bytes %#x at %#x:", size, value, reg);
		if (round & 1) {
			CHECK_EQ(exit_store(ECAM + (OWN << 12) + reg, size, value)->rip,
				 SVM_RIP + (size == 2 ? 3 : 2));
		} else if (reg < 0x100) {
			exit_port_of(0xcf8, 4, false, 1u << 31 | OWN << 8 | (reg & ~3u));
			exit_port_of(0xcfc + (reg & 3), size, false, value);
		} else {
			continue;
		}
		judge_write(&j, reg, size, value);
		if (!CHECK(!memcmp(j.bytes, fake_ram + ECAM + (OWN << 12), sizeof(j.bytes))))
			return;
		CHECK_EQ(my_status()->state, QV_MON_RUNNING);
	}
}

static void config_of_others(void)
{
	u64 before;

	prepare();
	ram_write32(ECAM, 0x12345678);
	before = pcpu_of(0)->status->denied;
	CHECK_EQ(exit_store(ECAM + 4, 4, 0)->rip, SVM_RIP + 2);
	CHECK_EQ(ram_read32(ECAM), 0x12345678);
	CHECK_EQ(exit_port_of(0xcf8, 4, false, 1u << 31), 1u << 31);
	CHECK_EQ(exit_port_of(0xcf8, 4, true, ~0ull), 1u << 31);
	CHECK_EQ(exit_port_of(0xcfc, 4, true, 0), ~0u);
	CHECK_EQ(exit_port_of(0xcfd, 1, true, 0x1122334455660000), 0x11223344556600ff);
	exit_port_of(0xcfc, 4, false, 0);
	CHECK_EQ(ram_read32(ECAM), 0x12345678);
	CHECK_EQ(pcpu_of(0)->status->denied, before + 2);
	/* config access is not enabled, so no function answers */
	exit_port_of(0xcf8, 4, false, OWN << 8);
	CHECK_EQ(exit_port_of(0xcfc, 4, true, 0), ~0u);
	exit_port_of(0xcf8, 4, false, 1u << 31 | OWN << 8 | 8);
	CHECK_EQ(exit_port_of(0xcfe, 2, true, 0xffff0000),
		 0xffff0000 | (u16)(0x0a * 7 | 0x0b * 7 << 8));
	CHECK_EQ(my_status()->state, QV_MON_RUNNING);
}

static void ports_that_fail(void)
{
	static const struct { u32 port, size; } bad[] = {
		{ 0xcf8, 1 }, { 0xcf8, 2 }, { 0xcf9, 1 }, { 0xcfa, 4 }, { 0xcfb, 1 }, { 0xcfd, 4 },
		{ 0xcff, 2 }, { 0xd00, 1 }, { 0xcf7, 4 }, { 0x60, 1 },
	};
	u32 i;

	for (i = 0; i < 2 * sizeof(bad) / sizeof(bad[0]); i++) {
		prepare();
		unit_case("port %#x, %u bytes:", bad[i / 2].port, bad[i / 2].size);
		exit_port_of(0xcf8, 4, false, 1u << 31 | OWN << 8);
		exit_port_of(bad[i / 2].port, bad[i / 2].size, i & 1, 0);
		CHECK_EQ(my_status()->state, QV_MON_FAILED);
		CHECK_EQ(my_status()->failure.address, bad[i / 2].port);
	}
	prepare();
	me()->req.num_devices = 0;	/* a cell without a device may not use such a port */
	exit_port_of(0xcf8, 4, true, 0);
	CHECK_EQ(my_status()->state, QV_MON_FAILED);
}

static void message_tables(void)
{
	prepare();
	exit_store(TABLE, 4, 0xfee02000);
	CHECK_EQ(ram_read32(TABLE), 0xfee02000);
	exit_store(TABLE, 4, 0xfee01000);	/* all CPUs of the cell have even ids */
	exit_store(TABLE + 0x30, 4, 0xfee01000);
	exit_store(TABLE, 2, 0);
	exit_store(TABLE + 4, 4, 1);
	exit_store(TABLE + 8, 4, 0x420);
	CHECK_EQ(pcpu_of(0)->status->denied, 5);
	exit_store(TABLE + 8, 4, 0x120);
	exit_store(TABLE + 12, 4, 0);
	CHECK_EQ(ram_read32(TABLE), 0xfee02000);
	CHECK_EQ(ram_read32(TABLE + 4), 0);
	CHECK_EQ(ram_read32(TABLE + 8), 0x120);
	exit_store(TABLE - 4, 4, 0x55);			/* the address is next to the table */
	exit_store(TABLE + 0x40, 4, 0x66);
	CHECK_EQ(ram_read32(TABLE - 4), 0x55);
	CHECK_EQ(ram_read32(TABLE + 0x40), 0x66);
	CHECK_EQ(pcpu_of(0)->status->denied, 5);
	CHECK_EQ(my_status()->state, QV_MON_RUNNING);
	/* the address is in another page, which the cell does not own */
	exit_store(TABLE + 0x1000, 4, 0);
	CHECK_EQ(my_status()->state, QV_MON_FAILED);
}

/* Behind an IOMMU, a write of an ordinary message puts another message into the device */
static void remapped_messages(void)
{
	struct pci_cell *p = &me()->cell.pci;
	u64 config = ECAM + (OWN << 12);
	u32 i, of[4];

	for (i = 0; i < 4; i++)			/* the CPUs have the ids 0, 2, 4 and 6 */
		of[i] = 0xfee00000 | (0x900 + 256 * i) << 5 | 0x18;
	prepare();
	p->rules[1].remap = p->rules[2].remap = p->tables[0].remap = REMAP_ADDRESS(0x900);
	p->rules[1].keep = p->rules[2].keep = 0;
	exit_store(config + 0x44, 4, 0xfee06000);
	CHECK_EQ(ram_read32(config + 0x44), of[3]);
	exit_store(config + 0x44, 4, 0xfee02000);
	CHECK_EQ(ram_read32(config + 0x44), of[1]);
	exit_store(config + 0x4c, 2, 0x4131);
	CHECK_EQ(ram_read32(config + 0x4c), 0x31);
	exit_store(config + 0x4c, 1, 0x32);
	exit_store(TABLE, 4, 0xfee04000);
	exit_store(TABLE + 4, 4, 0);
	exit_store(TABLE + 8, 4, 0x120);
	CHECK_EQ(ram_read32(TABLE), of[2]);
	CHECK_EQ(ram_read32(TABLE + 8), 0x20);
	CHECK_EQ(pcpu_of(0)->status->denied, 0);

	exit_store(config + 0x44, 4, 0xfee01000);
	exit_store(config + 0x44, 4, of[0]);
	exit_store(config + 0x45, 1, 0x60);	/* the rest counts as zeros */
	exit_store(config + 0x44, 2, 0x6000);
	exit_store(config + 0x4c, 4, 0x431);
	exit_store(config + 0x4d, 1, 1);
	exit_store(TABLE, 4, of[3]);
	exit_store(TABLE + 4, 4, 1);
	exit_store(TABLE + 8, 4, 0x1f);
	CHECK_EQ(pcpu_of(0)->status->denied, 9);
	CHECK_EQ(ram_read32(config + 0x44), of[1]);
	CHECK_EQ(ram_read32(config + 0x4c), 0x32);
	CHECK_EQ(ram_read32(TABLE), of[2]);
	CHECK_EQ(ram_read32(TABLE + 8), 0x20);
	CHECK_EQ(my_status()->state, QV_MON_RUNNING);
}

UNIT_SUITE(pci) = {
	{ "pci: message addresses reach own CPUs only", message_addresses },
	{ "pci: message data is fixed or NMI only", message_data },
	{ "pci: IOAPIC entries reach own CPUs only", ioapic_entries },
	{ "pci: IOAPIC entries do not name a CPU in x2APIC mode", ioapic_x2 },
	{ "pci: config writes change allowed bits only", config_writes },
	{ "pci: config space of other functions reads ones", config_of_others },
	{ "pci: forbidden ports fail a cell", ports_that_fail },
	{ "pci: MSI-X tables take allowed messages only", message_tables },
	{ "pci: messages behind an IOMMU name its entries", remapped_messages },
	{ 0 }
};
