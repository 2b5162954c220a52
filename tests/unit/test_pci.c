// SPDX-License-Identifier: GPL-2.0-only
/* PCI functions of cells: the filters against slow judges; config writes, tables, giving and taking back. */
#include <string.h>
#include "core/decode.h"
#include "core/nested.h"
#include "core/pci.h"
#include "fake.h"
#include "svm/svm.h"
#include "tables.h"
#include "unit.h"
#include "world.h"

#define ECAM	0x8000000ull		/* in the fake RAM, for tests of single exits */
#define OWN	0x28u			/* 00:05.0 */
#define TABLE	0xa000100ull
#define RIP	0x5000ull

/* ---- filters ---- */

/* Which of the 8-bit ids a message or entry reaches, as the manuals put it; NULL: not allowed at all */
static bool judge_hears(const struct icr_map *map, u32 cpu, bool logical, u32 dest)
{
	if (!logical)
		return dest == 0xff || map->apic_id[cpu] == dest;
	if (map->cluster)
		return dest >> 4 == map->ldr[cpu] >> 4 && (dest & map->ldr[cpu] & 15);
	return dest & map->ldr[cpu];
}

static void message_addresses(void)
{
	struct icr_map map = { .num = 3, .own = 5, .apic_id = { 3, 7, 0x40 } };
	u32 i;

	for (i = 0; i < 0x100000; i++) {
		u32 value = (i & 1 ? 0xfee00000 : (u32)rnd()) | (u32)rnd_below(1u << 20);
		u32 dest = value >> 12 & 0xff;
		bool want = value >> 20 == 0xfee && !(value & 0xfff) && (dest == 3 || dest == 0x40);

		if (i < 256)
			value = 0xfee00000 | i << 12, want = i == 3 || i == 0x40;
		if (pci_value_ok(&map, PCI_MSI_ADDRESS, value) != want) {
			unit_case("address %#x:", value);
			CHECK(!"as the judge says");
		}
	}
}

static void message_data(void)
{
	struct icr_map map = { .num = 0 };
	u32 value;

	for (value = 0; value < 0x20000; value++) {
		u32 mode = value >> 8 & 7;
		bool want = (value & 0xff) >= 32 && mode <= 1 && !(value & 0x8000) && !(value & 0x3800) &&
			    !(value >> 16);

		if (pci_value_ok(&map, PCI_MSI_DATA, value) != want) {
			unit_case("data %#x:", value);
			CHECK(!"as the judge says");
		}
	}
	CHECK(!pci_value_ok(&map, PCI_ZERO, 1) && pci_value_ok(&map, PCI_ZERO, 0));
	CHECK(pci_value_ok(&map, PCI_ANY, ~0u));
}

static void ioapic_entries(void)
{
	struct icr_map map = { .num = 4, .apic_id = { 0, 1, 2, 3 } };
	u32 round, i;

	for (round = 0; round < 400000; round++) {
		u32 low = rnd_below(0x10000), high = (u32)rnd_below(256) << 24;
		u32 dest = high >> 24, all = 0, mode = low >> 8 & 7;
		bool logical = low & 0x800, stranger = false, want;

		map.own = rnd_below(16);
		map.cluster = round & 1;
		for (i = 0; i < 4; i++)
			map.ldr[i] = map.cluster ? (i / 2) << 4 | 1u << i % 2 : 1u << i;
		if (round & 2)
			high &= 0x0f000000 | 0x33000000, dest = high >> 24;
		for (i = 0; i < 4; i++)
			if (judge_hears(&map, i, logical, dest))
				all |= 1u << i;
		/* somebody unknown may hear it too: a bit that is nobody's, an id that is nobody's */
		if (!logical)
			stranger = dest > 3;
		else if (map.cluster)
			stranger = dest >> 4 > 1 || (dest & 12);
		else
			stranger = dest & 0xf0;
		want = all && !(all & ~map.own) && !stranger && mode <= 1;
		unit_case("low %#x, dest %#x, own %lx, cluster %u:", low, dest, map.own, map.cluster);
		if (ioapic_entry_ok(&map, low, high) != want)
			CHECK(!"as the judge says");
		CHECK(ioapic_entry_ok(&map, low | 1u << 16, high));
		CHECK(ioapic_entry_ok(&map, low, high | 1u << 16));
	}
}

/* ---- single exits of a cell ---- */

static void write32(u64 pa, u32 value)
{
	memcpy(fake_ram + pa, &value, 4);
}

static u32 read32(u64 pa)
{
	u32 value;

	memcpy(&value, fake_ram + pa, 4);
	return value;
}

static void prepare(void)
{
	struct pci_cell *p = &me()->pci;
	u32 i;

	fake_open(true, true);
	fake_become_cell();
	me()->boot.ecam_pa = ECAM;
	me()->boot.ecam_len = 1 << 20;
	me()->req.num_devices = 1;
	p->num_rules = 3;
	p->rules[0] = (struct pci_rule){ OWN << 12 | 4, PCI_ANY, 0x403, 0xffff };
	p->rules[1] = (struct pci_rule){ OWN << 12 | 0x44, PCI_MSI_ADDRESS, ~0u, ~0u };
	p->rules[2] = (struct pci_rule){ OWN << 12 | 0x4c, PCI_MSI_DATA, 0xffff, 0xffff };
	p->tables[0] = (struct pci_table){ TABLE, TABLE + 0x40, TABLE & -4096ull, 4096 };
	for (i = 0; i < 0x1000; i++)
		fake_ram[ECAM + (OWN << 12) + i] = i * 7;
	write32(ECAM + (OWN << 12) + 4, 0xf900ff80);
	write32(ECAM + (OWN << 12) + 0x44, 0xfee00000);
	write32(ECAM + (OWN << 12) + 0x4c, 0xabcd0040);
}

/* mov of @size bytes from eax to (edi) */
static struct vmcb *store(u64 gpa, u32 size, u32 value)
{
	static const u8 code[5][3] = { [1] = { 0x88, 0x07 }, [2] = { 0x66, 0x89, 0x07 }, [4] = { 0x89, 0x07 } };
	struct vmcb *v = vmcb_of(pcpu_of(0));

	v->exit_code = EXIT_NPF;
	v->info1 = 7;
	v->info2 = gpa;
	v->exit_int_info = 0;
	v->rip = RIP;
	v->cr0 = 0x11;
	v->cs.attrib = 0xc9b;
	v->efer = EFER_SVME;
	v->rax = value;
	v->num_bytes = 15;
	memset(v->bytes, 0x90, sizeof(v->bytes));
	memcpy(v->bytes, code[size], 3);
	svm_exit(pcpu_of(0));
	return v;
}

static u64 port(u32 number, u32 size, bool in, u64 rax)
{
	struct vmcb *v = vmcb_of(pcpu_of(0));

	v->exit_code = EXIT_IOIO;
	v->info1 = number << 16 | size << 4 | in;
	v->info2 = RIP + 2;
	v->exit_int_info = 0;
	v->rip = RIP;
	v->rax = rax;
	v->next_rip = RIP + 2;
	svm_exit(pcpu_of(0));
	return v->rax;
}

struct judge { u8 bytes[0x1000]; };

/* One byte after another: what may change */
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
		j->bytes[6] = j->bytes[7] = 0;	/* the model's memory takes what the device would not: zeros */
	if (reg / 4 == 0x4c / 4)
		j->bytes[0x4e] = j->bytes[0x4f] = 0;
	memcpy(&data, j->bytes + 0x44, 4);
	if (data >> 20 != 0xfee || (data & 0xfff) || (data >> 12 & 0xff) % 2 || (data >> 12 & 0xff) > 6)
		memcpy(j->bytes + 0x44, old + 0x44, 4);
	memcpy(&data, j->bytes + 0x4c, 4);
	if ((data & 0xff) < 32 || (data & 0xb600) || (data & 0x3800))
		memcpy(j->bytes + 0x4c, old + 0x4c, 4);
}

static void config_writes(void)
{
	static const u32 sizes[] = { 1, 2, 4 };
	struct judge j;
	u32 round;

	prepare();
	memcpy(j.bytes, fake_ram + ECAM + (OWN << 12), sizeof(j.bytes));
	for (round = 0; round < 20000; round++) {
		u32 size = sizes[rnd_below(3)];
		u32 reg = (rnd_below(2) ? (const u32[]){ 4, 0x44, 0x4c }[rnd_below(3)] + rnd_below(4) :
			   rnd_below(0x200)) & -size;
		u32 value = rnd_below(2) ? (u32)rnd() : 0xfee00000 | (u32)rnd_below(10) << 12;

		if (rnd_below(4) == 0)
			value = rnd_below(0x200);
		unit_case("%u bytes %#x at %#x:", size, value, reg);
		if (round & 1) {
			CHECK_EQ(store(ECAM + (OWN << 12) + reg, size, value)->rip, RIP + (size == 2 ? 3 : 2));
		} else if (reg < 0x100) {
			port(0xcf8, 4, false, 1u << 31 | OWN << 8 | (reg & ~3u));
			port(0xcfc + (reg & 3), size, false, value);
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
	write32(ECAM, 0x12345678);
	before = cpu_status(pcpu_of(0))->denied;
	CHECK_EQ(store(ECAM + 4, 4, 0)->rip, RIP + 2);
	CHECK_EQ(read32(ECAM), 0x12345678);
	CHECK_EQ(port(0xcf8, 4, false, 1u << 31), 1u << 31);
	CHECK_EQ(port(0xcf8, 4, true, ~0ull), 1u << 31);
	CHECK_EQ(port(0xcfc, 4, true, 0), ~0u);
	CHECK_EQ(port(0xcfd, 1, true, 0x1122334455660000), 0x11223344556600ff);
	port(0xcfc, 4, false, 0);
	CHECK_EQ(read32(ECAM), 0x12345678);
	CHECK_EQ(cpu_status(pcpu_of(0))->denied, before + 2);
	port(0xcf8, 4, false, OWN << 8);		/* not enabled: nobody's */
	CHECK_EQ(port(0xcfc, 4, true, 0), ~0u);
	port(0xcf8, 4, false, 1u << 31 | OWN << 8 | 8);
	CHECK_EQ(port(0xcfe, 2, true, 0xffff0000), 0xffff0000 | (u16)(0x0a * 7 | 0x0b * 7 << 8));
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
		port(0xcf8, 4, false, 1u << 31 | OWN << 8);
		port(bad[i / 2].port, bad[i / 2].size, i & 1, 0);
		CHECK_EQ(my_status()->state, QV_MON_FAILED);
		CHECK_EQ(my_status()->failure.address, bad[i / 2].port);
	}
	prepare();
	me()->req.num_devices = 0;			/* none of it without a device */
	port(0xcf8, 4, true, 0);
	CHECK_EQ(my_status()->state, QV_MON_FAILED);
}

static void message_tables(void)
{
	prepare();
	store(TABLE, 4, 0xfee02000);
	CHECK_EQ(read32(TABLE), 0xfee02000);
	store(TABLE, 4, 0xfee01000);			/* no CPU of ours has an odd id */
	store(TABLE + 0x30, 4, 0xfee01000);
	store(TABLE, 2, 0);
	store(TABLE + 4, 4, 1);
	store(TABLE + 8, 4, 0x420);
	CHECK_EQ(cpu_status(pcpu_of(0))->denied, 5);
	store(TABLE + 8, 4, 0x120);
	store(TABLE + 12, 4, 0);
	CHECK_EQ(read32(TABLE), 0xfee02000);
	CHECK_EQ(read32(TABLE + 4), 0);
	CHECK_EQ(read32(TABLE + 8), 0x120);
	store(TABLE - 4, 4, 0x55);			/* beside the table */
	store(TABLE + 0x40, 4, 0x66);
	CHECK_EQ(read32(TABLE - 4), 0x55);
	CHECK_EQ(read32(TABLE + 0x40), 0x66);
	CHECK_EQ(cpu_status(pcpu_of(0))->denied, 5);
	CHECK_EQ(my_status()->state, QV_MON_RUNNING);
	store(TABLE + 0x1000, 4, 0);			/* another page: not the cell's */
	CHECK_EQ(my_status()->state, QV_MON_FAILED);
}

/* ---- Linux and an IOAPIC: a fake one, all of whose registers are one ---- */

#define IOAPIC	0xa008000ull

static u64 ioapic(u32 reg, bool write, u32 value)
{
	struct vmcb *v = vmcb_of(pcpu_of(0));

	v->exit_code = EXIT_NPF;
	v->info1 = write ? 6 : 4;
	v->info2 = IOAPIC + reg;
	v->exit_int_info = 0;
	v->event_inj = 0;
	v->rip = RIP;
	v->cr0 = 0x11;
	v->cs.attrib = 0xc9b;
	v->efer = EFER_SVME;
	v->rax = write ? value : ~0ull;
	v->num_bytes = 15;
	memset(v->bytes, 0x90, sizeof(v->bytes));
	memcpy(v->bytes, write ? "\x89\x07" : "\x8b\x07", 2);
	svm_exit(pcpu_of(0));
	CHECK_EQ(v->rip, RIP + 2);
	return v->rax;
}

static u64 ioapic_denied(void)
{
	return cpu_status(pcpu_of(0))->denied;
}

static void ioapic_accesses(void)
{
	static const u32 bad[] = { 0x0250, 0x0450, 0x0550, 0x0750, 0x0850 };	/* SMI, NMI, INIT, ExtINT, logical */
	struct cell_slot *slot;
	u32 i;

	fake_open(true, true);			/* CPUs 0, 2, 4, 6 */
	me()->boot.num_ioapics = 1;
	me()->boot.ioapics[0] = IOAPIC;
	me()->icr.own = 3;
	ioapic(0, true, 0x12);
	CHECK_EQ(ioapic(0, false, 0), 0x12);
	CHECK_EQ(read32(IOAPIC), 0);		/* the real one only moves with an access */
	write32(IOAPIC + 0x10, 0x02000000);	/* what the other half holds */
	ioapic(0x10, true, 0x50);
	CHECK_EQ(read32(IOAPIC), 0x12);
	CHECK_EQ(read32(IOAPIC + 0x10), 0x50);
	CHECK_EQ(ioapic(0x10, false, 0), 0x50);
	CHECK_EQ(ioapic_denied(), 0);
	write32(IOAPIC + 0x10, 0x04000000);	/* a CPU that is a cell's */
	ioapic(0x10, true, 0x50);
	CHECK_EQ(read32(IOAPIC + 0x10), 0x10050);
	CHECK_EQ(ioapic_denied(), 1);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		write32(IOAPIC + 0x10, 0x02000000);
		ioapic(0x10, true, bad[i]);
		CHECK_EQ(read32(IOAPIC + 0x10), bad[i] | 0x10000);
		CHECK_EQ(ioapic_denied(), 2 + i);
	}
	write32(IOAPIC + 0x10, 0x04010000);	/* in remapped format */
	ioapic(0x10, true, 0x50);
	CHECK_EQ(read32(IOAPIC + 0x10), 0x50);
	slot = &me()->cells[1];
	slot->taken = slot->num_devices = 1;
	slot->devices[0] = (struct qv_mon_device){ .bdf = OWN, .ioapic = 0, .pin = 1 };
	write32(IOAPIC + 0x10, 0x02000000);
	ioapic(0x10, true, 0x50);
	CHECK_EQ(read32(IOAPIC + 0x10), 0x02000000);	/* the pin of a cell's device: left alone */
	CHECK_EQ(ioapic_denied(), 7);
	ioapic(0, true, 0x14);				/* another pin */
	ioapic(0x10, true, 0x10050);
	CHECK_EQ(read32(IOAPIC + 0x10), 0x10050);
	CHECK_EQ(ioapic_denied(), 7);
	CHECK_EQ(my_status()->state, QV_MON_RUNNING);
}

/* ---- Linux and ports, while a cell has a function ---- */

static void front_ports(void)
{
	struct cell_slot *slot;

	fake_open(true, true);
	me()->boot.ecam_pa = ECAM;
	me()->boot.ecam_len = 1 << 20;
	slot = &me()->cells[1];
	slot->taken = slot->num_devices = 1;
	slot->devices[0] = (struct qv_mon_device){ .bdf = OWN, .ioapic = QV_MON_NO_PIN,
		.bars = { { .base = 0xc000, .len = 8, .ports = 1 } } };
	write32(ECAM + (OWN << 12), 0x11112222);
	write32(ECAM + (0x10 << 12), 0x33334444);
	fake_in = 1u << 31 | 0x10 << 8;			/* what 0xCF8 holds: Linux's own */
	CHECK_EQ(port(0xcfc, 4, true, 0), 0x33334444);
	CHECK_EQ(port(0xcfe, 2, true, 0xaaaa0000), 0xaaaa3333);
	CHECK_EQ(port(0xcff, 1, true, ~0ull), 0xffffffffffffff33);
	port(0xcfd, 1, false, 0x55);
	port(0xcfe, 2, false, 0x6677);
	CHECK_EQ(read32(ECAM + (0x10 << 12)), 0x66775544);
	CHECK_EQ(cpu_status(pcpu_of(0))->denied, 0);
	fake_in = 1u << 31 | OWN << 8;			/* the cell's */
	CHECK_EQ(port(0xcfc, 4, true, 0), ~0u);
	CHECK_EQ(port(0xcfd, 1, true, 0), 0xff);
	port(0xcfc, 4, false, 0);
	CHECK_EQ(read32(ECAM + (OWN << 12)), 0x11112222);
	CHECK_EQ(cpu_status(pcpu_of(0))->denied, 3);
	fake_in = OWN << 8;				/* not enabled */
	CHECK_EQ(port(0xcfc, 4, true, 0), ~0u);
	fake_in = 1u << 31 | 0x800000 | OWN << 8;	/* beyond the buses there are */
	CHECK_EQ(port(0xcfc, 4, true, 0), ~0u);
	CHECK_EQ(cpu_status(pcpu_of(0))->denied, 3);
	fake_in = 0x5a5a5a5a;
	fake_out = 0;
	CHECK_EQ(port(0xc007, 1, true, 0), 0xff);	/* the cell's BAR, and what only touches it */
	port(0xbfff, 2, false, 0x1234);
	CHECK_EQ(fake_out, 0);
	CHECK_EQ(port(0xc008, 1, true, 0), 0x5a);
	port(0xb2, 1, false, 0x17);			/* SMI: carried out, and logged */
	CHECK_EQ(fake_out, 0x17);
	CHECK_EQ(fake_port, 0xb2);
	CHECK_EQ(cpu_status(pcpu_of(0))->denied, 5);
	port(0xcfa, 4, false, 0);			/* into the config registers from before them */
	CHECK_EQ(cpu_status(pcpu_of(0))->denied, 6);
	vmcb_of(pcpu_of(0))->event_inj = 0;
	fake_in = ~0u;
	CHECK_EQ(my_status()->state, QV_MON_RUNNING);
}

/* ---- the manager ---- */

#define HIGH_ECAM	0xb0000000ull
#define BAR		0xfe000000ull

static void config_set(u32 bdf, u32 reg, u32 value)
{
	device_write(pcpu_of(0), HIGH_ECAM + (bdf << 12) + reg, value);
}

static u32 config_get(u32 bdf, u32 reg)
{
	return device_read(pcpu_of(0), HIGH_ECAM + (bdf << 12) + reg);
}

/* A function with MSI at 0x40, MSI-X at 0x60 whose table is at BAR 0 + 0x1800, ports in BAR 2 */
static void make_function(void)
{
	me()->boot.ecam_pa = HIGH_ECAM;
	me()->boot.ecam_len = 4u << 20;
	config_set(OWN, 0, 0x11e81234);
	config_set(OWN, 4, 1u << 20 | 7);
	config_set(OWN, 8, 0x00ff0010);
	config_set(OWN, 0x0c, 0);
	config_set(OWN, 0x10, BAR);
	config_set(OWN, 0x18, 0xc000 | 1);
	config_set(OWN, 0x34, 0x40);
	config_set(OWN, 0x40, 0x00816005);		/* 64-bit MSI, enabled */
	config_set(OWN, 0x60, 0x80030011);		/* four entries, enabled */
	config_set(OWN, 0x64, 0x1800);
}

static void good(struct qv_mon_create *q)
{
	memset(q, 0, sizeof(*q));
	q->block_pa = 40 * QV_HUGE;
	q->window_pa = 41 * QV_HUGE;
	q->num_cpus = 1;
	q->cpus[0] = 2;
	q->num_runs = 1;
	q->runs[0] = (struct qv_mon_run){ 42 * QV_HUGE, 2 };
	q->entry.eip = 0x100000;
	q->num_devices = 1;
	q->devices[0] = (struct qv_mon_device){
		.bdf = OWN, .flags = QV_MON_DEVICE_MASTER, .ioapic = QV_MON_NO_PIN,
		.bars = { { .base = BAR, .len = 0x4000 }, { 0 }, { .base = 0xc000, .len = 32, .ports = 1 } },
	};
}

static struct leaf front(u64 pa)
{
	return tables_walk(&me()->nested, pa);
}

static void one_life(void)
{
	u32 device = fake_ept ? LEAF_UC : LEAF_AS_MTRRS;
	static struct qv_mon_create q;
	struct world w;
	const struct instance *cell;
	struct leaf l;
	u64 id, pa;

	world_open(&w);
	make_function();
	good(&q);
	id = world_create(&w, &q);
	CHECK_EQ(id, 1);
	cell = fake_instance(q.block_pa);
	for (pa = HIGH_ECAM; pa < HIGH_ECAM + (4u << 20); pa += QV_PAGE) {
		l = tables_walk(&cell->nested, pa);
		CHECK(l.present && !l.write && !l.execute);
		if (pa == HIGH_ECAM + (OWN << 12))
			CHECK(l.pa == pa && l.type == device);
		else if (!CHECK_EQ(*(u64 *)(fake_ram + l.pa), ~0ull))
			return;
	}
	for (pa = BAR; pa < BAR + 0x4000; pa += QV_PAGE) {
		l = tables_walk(&cell->nested, pa);
		CHECK(l.present && l.pa == pa && l.write == (pa != BAR + 0x1000) && !l.execute && l.type == device);
	}
	CHECK(!tables_walk(&cell->nested, BAR + 0x4000).present);
	CHECK(!tables_walk(&cell->nested, HIGH_ECAM + (4u << 20)).present);
	CHECK(front(BAR).present && front(HIGH_ECAM + (OWN << 12)).present);

	CHECK_EQ(world_start(&w, 1), 0);
	CHECK(!front(BAR).present && !front(BAR + 0x3000).present && front(BAR + 0x4000).present);
	CHECK(!front(HIGH_ECAM + (OWN << 12)).present && front(HIGH_ECAM + ((OWN + 1) << 12)).present);
	CHECK_EQ(config_get(OWN, 4) & 0xffff, 0x400);
	CHECK_EQ(config_get(OWN, 0x40) >> 16 & 1, 0);
	CHECK_EQ(config_get(OWN, 0x44), 0xfee04000);	/* CPU 2 has id 4 */
	CHECK_EQ(config_get(OWN, 0x4c) & 0xffff, 0xff);
	CHECK_EQ(config_get(OWN, 0x60) >> 31, 0);
	CHECK_EQ(device_read(pcpu_of(0), BAR + 0x1830), 0xfee04000);
	CHECK_EQ(device_read(pcpu_of(0), BAR + 0x183c), 1);
	CHECK(pci_given(OWN) && !pci_given(OWN + 1));
	CHECK_EQ(me()->port_map[0xc000 / 8], 0xff);
	CHECK_EQ(me()->port_map[0xcf8 / 8], 0xf0);

	config_set(OWN, 4, 1u << 20 | 7);		/* the cell was at work (the status half is read-only in a device) */
	config_set(OWN, 0x40, 0x00816005);
	CHECK_EQ(world_stop(&w, 1), 0);
	CHECK_EQ(config_get(OWN, 4) & 0xffff, 0x400);
	CHECK_EQ(config_get(OWN, 0x40) >> 16 & 1, 0);
	while (world_reclaim(&w, 1) == 1)
		;
	CHECK(front(BAR).present && front(BAR).pa == BAR && front(BAR).write && front(BAR).type == device);
	CHECK(front(HIGH_ECAM + (OWN << 12)).write);
	CHECK(!pci_given(OWN));
	CHECK_EQ(me()->port_map[0xc000 / 8], 0);
	CHECK_EQ(me()->port_map[0xcf8 / 8], 0);
	CHECK_EQ(world_create(&w, &q), 1);		/* and once more */
}

static void given_and_taken_back(void)
{
	for (fake_ept = 0; fake_ept < 2; fake_ept++)
		one_life();
}

#define CHANGES(X) \
	X(nothing, OK, (void)0) \
	X(flags, DEVICES, d->flags = 4) \
	X(too_many, DEVICES, q.num_devices = 9) \
	X(outside_config_space, DEVICE_NONE, d->bdf = 0x400) \
	X(bdf_huge, DEVICE_NONE, d->bdf = ~0u) \
	X(nobody_there, DEVICE_NONE, (d->bdf = 0x30, config_set(0x30, 0, ~0u))) \
	X(bridge, DEVICE_NONE, config_set(OWN, 0x0c, 1 << 16)) \
	X(isa_bridge, DEVICE_NONE, config_set(OWN, 8, 0x06010002)) \
	X(serial_port, OK, config_set(OWN, 8, 0x07000200)) \
	X(multi_function, OK, config_set(OWN, 0x0c, 0x80 << 16)) \
	X(twice, DEVICE_TAKEN, (q.num_devices = 2, q.devices[1] = *d)) \
	X(bar_is_ram, DEVICE_BAR, (d->bars[0].base = 90 * QV_HUGE, config_set(OWN, 0x10, 90 * QV_HUGE))) \
	X(bar_over_own_ram, DEVICE_BAR, (d->bars[0].base = 0, config_set(OWN, 0x10, 0))) \
	X(bar_elsewhere, DEVICE_BAR, d->bars[0].base += 0x4000) \
	X(bar_half_a_page, DEVICE_BAR, d->bars[0].len = 0x800) \
	X(bar_into_messages, DEVICE_BAR, d->bars[0].len = 0xe01000) \
	X(bar_all, DEVICE_BAR, d->bars[0].len = -4096ull) \
	X(bar_wraps, DEVICE_BAR, (d->bars[0].base = -4096ull)) \
	X(bar_over_config_space, DEVICE_BAR, (d->bars[0].base = HIGH_ECAM, config_set(OWN, 0x10, HIGH_ECAM))) \
	X(bar_is_ports, DEVICE_BAR, d->bars[0].ports = 1) \
	X(ports_are_bar, DEVICE_BAR, d->bars[2].ports = 0) \
	X(ports_beyond, DEVICE_BAR, d->bars[2].len = 0x4001) \
	X(ports_elsewhere, DEVICE_BAR, d->bars[2].base = 0xd000) \
	X(ports_of_config, DEVICE_BAR, (d->bars[2].base = 0xcf8, config_set(OWN, 0x18, 0xcf9))) \
	X(pin_of_no_ioapic, DEVICE_PIN, (d->ioapic = 0, d->vector = 64)) \
	X(no_config_space, DEVICE_NONE, me()->boot.ecam_len = 0) \
	X(config_space_in_ram, DEVICE_NONE, me()->boot.ecam_pa = QV_HUGE)

static void refusals(void)
{
	static struct qv_mon_create q;
	struct qv_mon_device *d = &q.devices[0];
	struct world w;
	u64 want, got;

#define X(name, error, change) \
	world_open(&w); \
	make_function(); \
	good(&q); \
	change; \
	unit_case(#name ":"); \
	want = QV_ME_##error; \
	got = world_create(&w, &q); \
	CHECK_EQ(got > QV_ME_BASE ? got : QV_ME_OK, want); \
	CHECK(front(BAR).present && front(BAR).write);
	CHANGES(X)
#undef X
}

/* Two cells may be created with one range by a liar; only one of them starts */
static void overlapping_claims(void)
{
	static struct qv_mon_create a, b;
	struct world w;

	world_open(&w);
	make_function();
	good(&a);
	CHECK_EQ(world_create(&w, &a), 1);
	good(&b);
	b.block_pa = 50 * QV_HUGE;
	b.window_pa = 51 * QV_HUGE;
	b.runs[0].pa = 52 * QV_HUGE;
	b.cpus[0] = 3;
	CHECK_EQ(world_create(&w, &b), QV_ME_DEVICE_TAKEN);
	b.devices[0].bdf = 0x30;
	config_set(0x30, 0, 1);
	config_set(0x30, 0x0c, 0);
	config_set(0x30, 0x10, BAR);
	b.devices[0].bars[2].len = 0;
	CHECK_EQ(world_create(&w, &b), 2);
	CHECK_EQ(world_start(&w, 2), 0);
	CHECK_EQ(world_start(&w, 1), QV_ME_DEVICE_TAKEN);
	CHECK(!front(BAR).present);
}

const struct unit_test pci_tests[] = {
	{ "pci: message addresses", message_addresses },
	{ "pci: message data", message_data },
	{ "pci: redirection entries of IOAPICs", ioapic_entries },
	{ "pci: config writes, against a judge of bytes", config_writes },
	{ "pci: config space of others", config_of_others },
	{ "pci: ports that fail a cell", ports_that_fail },
	{ "pci: MSI-X tables", message_tables },
	{ "pci: Linux and an IOAPIC", ioapic_accesses },
	{ "pci: Linux and ports", front_ports },
	{ "pci: given and taken back", given_and_taken_back },
	{ "pci: refusals", refusals },
	{ "pci: overlapping claims", overlapping_claims },
	{ 0 }
};
