// SPDX-License-Identifier: GPL-2.0-only
/* PCI functions, given to a cell and returned by the manager. */
#include <string.h>
#include "abi/errors.h"
#include "tables/nested.h"
#include "core/pci.h"
#include "fake.h"
#include "pci_world.h"
#include "tables.h"
#include "unit.h"
#include "world.h"

#define OWN	0x28u			/* 00:05.0 */
#define HIGH_ECAM	FAKE_ECAM
#define BAR		0xfe000000ull

static void config_set(u32 bdf, u32 reg, u32 value)
{
	device_write(pcpu_of(0), HIGH_ECAM + (bdf << 12) + reg, value);
}

static u32 config_get(u32 bdf, u32 reg)
{
	return device_read(pcpu_of(0), HIGH_ECAM + (bdf << 12) + reg);
}

static void good(struct qv_mon_create *q)
{
	memset(q, 0, sizeof(*q));
	q->block_pa = 40 * QV_HUGE;
	q->console_pa = 41 * QV_HUGE;
	q->num_cpus = 1;
	q->bell_rate = 10;
	q->cpus[0] = 2;
	q->num_runs = 1;
	q->runs[0] = (struct qv_mon_run){ 42 * QV_HUGE, 2 };
	q->entry.eip = 0x100000;
	q->num_ports = 1;
	q->ports[0] = (struct qv_mon_ports){ 0x2f8, 0x2f9 };
	q->num_devices = 1;
	q->devices[0] = pci_world_device(OWN, BAR);
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
	pci_world_function(OWN, BAR);
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
		CHECK(l.present && l.pa == pa && l.write == (pa != BAR + 0x1000) && !l.execute &&
		      l.type == device);
	}
	CHECK(!tables_walk(&cell->nested, BAR + 0x4000).present);
	CHECK(!tables_walk(&cell->nested, HIGH_ECAM + (4u << 20)).present);
	l = front(HIGH_ECAM + (OWN << 12));
	CHECK(front(BAR).present && l.present && !l.write);

	/* the function's ROM is enabled and overlaps registers of other functions */
	config_set(OWN, 0x30, (u32)(BAR + 0x8000) | 1);
	CHECK_EQ(world_start(&w, 1), 0);
	CHECK_EQ(config_get(OWN, 0x30), 0);
	CHECK(!front(BAR).present && !front(BAR + 0x3000).present && front(BAR + 0x4000).present);
	CHECK(!front(HIGH_ECAM + (OWN << 12)).present &&
	      front(HIGH_ECAM + ((OWN + 1) << 12)).present);
	CHECK_EQ(config_get(OWN, 4) & 0xffff, 0x400);
	CHECK_EQ(config_get(OWN, 0x40) >> 16 & 1, 0);
	CHECK_EQ(config_get(OWN, 0x44), 0xfee04000);	/* CPU 2 has id 4 */
	CHECK_EQ(config_get(OWN, 0x4c) & 0xffff, 0xff);
	CHECK_EQ(config_get(OWN, 0x60) >> 31, 0);
	CHECK_EQ(device_read(pcpu_of(0), BAR + 0x1830), 0xfee04000);
	CHECK_EQ(device_read(pcpu_of(0), BAR + 0x183c), 1);
	CHECK(pci_given(OWN) && !pci_given(OWN + 1));
	CHECK_EQ(me()->port_map[0xc000 / 8], 0xff);
	CHECK_EQ(me()->port_map[0x2f8 / 8], 0x03);
	CHECK_EQ(me()->port_map[0xcf8 / 8], 0xf0);

	/* as if the cell had used the function (in a device the upper half is read-only) */
	config_set(OWN, 4, 1u << 20 | 7);
	config_set(OWN, 0x40, 0x00816005);
	CHECK_EQ(world_stop(&w, 1), 0);
	CHECK_EQ(config_get(OWN, 4) & 0xffff, 0x400);
	CHECK_EQ(config_get(OWN, 0x40) >> 16 & 1, 0);
	while (world_reclaim(&w, 1) == 1)
		;
	CHECK(front(BAR).present && front(BAR).pa == BAR && front(BAR).write &&
	      front(BAR).type == device);
	l = front(HIGH_ECAM + (OWN << 12));
	CHECK(l.present && l.pa == HIGH_ECAM + (OWN << 12) && !l.write);
	CHECK(!pci_given(OWN));
	CHECK_EQ(me()->port_map[0xc000 / 8], 0);
	CHECK_EQ(me()->port_map[0x2f8 / 8], 0);
	CHECK_EQ(me()->port_map[0xcf8 / 8], 0xf0);
	CHECK_EQ(world_create(&w, &q), 1);		/* a second time */
}

static void given_and_taken_back(void)
{
	for (fake_ept = 0; fake_ept < 2; fake_ept++)
		one_life();
}

/*
 * The registers fill whole 2 MiB pages. When the cell returns them, Linux's dummy page there is
 * gone
 */
static void large_bar(void)
{
	static struct qv_mon_create q;
	struct world w;
	u64 base = 0xf0000000, pa;
	u32 i;

	world_open(&w);
	pci_world_function(OWN, BAR);
	good(&q);
	q.devices[0].bars[0] = (struct qv_mon_bar){ .base = base, .len = 2 * QV_HUGE };
	config_set(OWN, 0x10, base);
	CHECK_EQ(world_create(&w, &q), 1);
	CHECK_EQ(world_start(&w, 1), 0);
	world_touch(&w, base + 0x5000, false);
	world_touch(&w, base + QV_HUGE + 0x5000, true);
	CHECK(front(base + 0x5000).pa != base + 0x5000);
	CHECK(front(base + QV_HUGE).pa != base + QV_HUGE);
	CHECK_EQ(world_stop(&w, 1), 0);
	while (world_reclaim(&w, 1) == 1)
		;
	for (pa = base; pa < base + 2 * QV_HUGE; pa += QV_PAGE)
		if (!CHECK(front(pa).present && front(pa).pa == pa && front(pa).write))
			return;
	for (i = 0; i < PT_ENTRIES; i++) {	/* the dummy tables for other holes are unchanged */
		const u64 *ones = (const u64 *)(fake_ram + me()->front.ones_table);
		const u64 *sink = (const u64 *)(fake_ram + me()->front.sink_table);

		if (!CHECK(ones[i] == ones[0] && sink[i] == sink[0] && ones[i] != sink[i]))
			return;
	}
}

#define CHANGES(X) \
	X(nothing, OK, (void)0) \
	X(flags, DEVICES, d->flags = 8) \
	X(too_many, DEVICES, q.num_devices = 9) \
	X(outside_config_space, DEVICE_NONE, d->bdf = 0x400) \
	X(bdf_huge, DEVICE_NONE, d->bdf = ~0u) \
	X(nobody_there, DEVICE_NONE, (d->bdf = 0x30, config_set(0x30, 0x0c, ~0u))) \
	X(bridge, DEVICE_NONE, config_set(OWN, 0x0c, 1 << 16)) \
	X(isa_bridge, DEVICE_NONE, config_set(OWN, 8, 0x06010002)) \
	X(serial_port, OK, config_set(OWN, 8, 0x07000200)) \
	X(multi_function, OK, config_set(OWN, 0x0c, 0x80 << 16)) \
	X(twice, DEVICE_TAKEN, (q.num_devices = 2, q.devices[1] = *d)) \
	X(bar_is_ram, DEVICE_BAR, \
	  (d->bars[0].base = 90 * QV_HUGE, config_set(OWN, 0x10, 90 * QV_HUGE))) \
	X(bar_over_own_ram, DEVICE_BAR, (d->bars[0].base = 0, config_set(OWN, 0x10, 0))) \
	X(bar_elsewhere, DEVICE_BAR, d->bars[0].base += 0x4000) \
	X(bars_beside_its_own, DEVICE_NONE, \
	  (d->number = 1, d->bars[0].base += 0x4000, d->bars[2].base += 32)) \
	X(bar_half_a_page, DEVICE_BAR, d->bars[0].len = 0x800) \
	X(bar_into_messages, DEVICE_BAR, d->bars[0].len = 0xe01000) \
	X(bar_all, DEVICE_BAR, d->bars[0].len = -4096ull) \
	X(bar_wraps, DEVICE_BAR, (d->bars[0].base = -4096ull)) \
	X(bar_over_config_space, DEVICE_BAR, \
	  (d->bars[0].base = HIGH_ECAM, config_set(OWN, 0x10, HIGH_ECAM))) \
	X(bar_is_ports, DEVICE_BAR, d->bars[0].ports = 1) \
	X(ports_are_bar, DEVICE_BAR, d->bars[2].ports = 0) \
	X(ports_beyond, DEVICE_BAR, d->bars[2].len = 0x4001) \
	X(ports_elsewhere, DEVICE_BAR, d->bars[2].base = 0xd000) \
	X(ports_of_config, DEVICE_BAR, (d->bars[2].base = 0xcf8, config_set(OWN, 0x18, 0xcf9))) \
	X(pin_of_no_ioapic, DEVICE_PIN, (d->ioapic = 0, d->vector = 64)) \
	X(no_config_space, DEVICE_NONE, me()->boot.ecam_len = 0) \
	X(config_space_in_ram, DEVICE_NONE, (me()->boot.ecam_pa = 0, me()->boot.ecam_len = QV_HUGE))

/* Checks the result of a request. Linux has the function's registers until a cell starts. */
static void created(struct world *w, struct qv_mon_create *q, const char *name, u64 want)
{
	u64 got = world_create(w, q);

	unit_case("%s", name);
	CHECK_EQ(got > QV_ME_BASE ? got : QV_ME_OK, want);
	CHECK(front(BAR).present && front(BAR).write);
}

static void refusals(void)
{
	static struct qv_mon_create q;
	struct qv_mon_device *d = &q.devices[0];
	struct world w;

#define X(name, error, change) \
	world_open(&w); \
	pci_world_function(OWN, BAR); \
	good(&q); \
	change; \
	created(&w, &q, #name ":", QV_ME_##error);
	CHANGES(X)
#undef X
}

/* ---- virtual functions ---- */

#define PHYSICAL	0x20u			/* 00:04.0 */
#define VIRTUAL		(PHYSICAL + 8 + 2 * 4)	/* its third: offset 8, stride 4 */
#define SRIOV		0x140u

/* The ids of a virtual function are ones and its BARs zeros: registers of @PHYSICAL place them */
static void virtual_world(struct qv_mon_create *q)
{
	pci_world_function(VIRTUAL, 0);
	config_set(VIRTUAL, 0, ~0u);
	config_set(VIRTUAL, 0x18, 0);
	config_set(PHYSICAL, 0x100, SRIOV << 20 | 0x10001);
	config_set(PHYSICAL, SRIOV, 0x10010);
	config_set(PHYSICAL, SRIOV + 8, 0x9);
	config_set(PHYSICAL, SRIOV + 0x10, 3);
	config_set(PHYSICAL, SRIOV + 0x14, 4 << 16 | 8);
	config_set(PHYSICAL, SRIOV + 0x24, (u32)(BAR - 2 * 0x4000) | 4);
	config_set(PHYSICAL, SRIOV + 0x28, 0);
	good(q);
	q->devices[0] = pci_world_device(VIRTUAL, BAR);
	q->devices[0].bars[2].len = 0;
	q->devices[0].physical = PHYSICAL;
	q->devices[0].number = 2;
}

#define VIRTUAL_CHANGES(X) \
	X(nothing, OK, (void)0) \
	X(last_of_two, DEVICE_NONE, config_set(PHYSICAL, SRIOV + 0x10, 2)) \
	X(switched_off, DEVICE_NONE, config_set(PHYSICAL, SRIOV + 8, 0x8)) \
	X(memory_off, DEVICE_NONE, config_set(PHYSICAL, SRIOV + 8, 0x1)) \
	X(no_capability, DEVICE_NONE, config_set(PHYSICAL, SRIOV, 0x10017)) \
	X(other_number, DEVICE_NONE, d->number = 1) \
	X(other_physical, DEVICE_NONE, d->physical = OWN) \
	X(itself, DEVICE_NONE, d->physical = VIRTUAL) \
	X(physical_nowhere, DEVICE_NONE, d->physical = 0xffff) \
	X(other_offset, DEVICE_NONE, config_set(PHYSICAL, SRIOV + 0x14, 4 << 16 | 12)) \
	X(other_stride, DEVICE_NONE, config_set(PHYSICAL, SRIOV + 0x14, 2 << 16 | 8)) \
	X(absent, DEVICE_NONE, config_set(VIRTUAL, 0x0c, ~0u)) \
	X(said_to_be_ordinary, DEVICE_NONE, d->physical = d->number = 0) \
	X(ordinary_without_bars, DEVICE_NONE, (d->physical = d->number = 0, d->bars[0].len = 0)) \
	X(with_its_physical_one, DEVICE_TAKEN, (q.num_devices = 2, \
	  q.devices[1] = pci_world_device(PHYSICAL, BAR + 0x8000))) \
	X(behind_its_physical_one, DEVICE_TAKEN, (q.num_devices = 2, q.devices[1] = *d, \
	  *d = pci_world_device(PHYSICAL, BAR + 0x8000), d->bars[2].len = 0, \
	  pci_world_function(PHYSICAL, BAR + 0x8000))) \
	X(bar_of_the_first, DEVICE_BAR, config_set(PHYSICAL, SRIOV + 0x24, (u32)BAR | 4)) \
	X(bar_longer, DEVICE_BAR, d->bars[0].len = 0x8000) \
	X(bar_above_4g, DEVICE_BAR, config_set(PHYSICAL, SRIOV + 0x28, 1)) \
	X(second_bar, DEVICE_BAR, \
	  (d->bars[2].base = BAR + 0x8000, d->bars[2].len = 0x4000, d->bars[2].ports = 0))

static void virtual_function(void)
{
	static struct qv_mon_create q;
	struct qv_mon_device *d = &q.devices[0];
	struct world w;

#define X(name, error, change) \
	world_open(&w); \
	virtual_world(&q); \
	change; \
	created(&w, &q, #name ":", QV_ME_##error);
	VIRTUAL_CHANGES(X)
#undef X
	/* Linux switches its virtual functions off between create and start */
	world_open(&w);
	virtual_world(&q);
	CHECK_EQ(world_create(&w, &q), 1);
	config_set(PHYSICAL, SRIOV + 8, 0);
	CHECK_EQ(world_start(&w, 1), QV_ME_DEVICE_NONE);
	config_set(PHYSICAL, SRIOV + 8, 0x9);
	CHECK_EQ(world_start(&w, 1), 0);
	CHECK(!front(BAR).present && !front(BAR + 0x3000).present && front(BAR - 0x1000).present);
}

/* Without an IOAPIC pin for its function, a cell may not enable the interrupt line. */
static void line(void)
{
	static struct qv_mon_create q;
	struct world w;
	u32 i;

	for (i = 0; i < 2; i++) {
		world_open(&w);
		pci_world_function(OWN, BAR);
		good(&q);
		if (i) {
			me()->boot.num_ioapics = 1;
			me()->boot.ioapics[0] = 0xfec00000;
			q.devices[0].ioapic = 0;
			q.devices[0].vector = 0x40;
		}
		CHECK_EQ(world_create(&w, &q), 1);
		CHECK_EQ(fake_instance(q.block_pa)->cell.pci.rules[0].at, OWN << 12 | 4);
		CHECK_EQ(fake_instance(q.block_pa)->cell.pci.rules[0].writable, i ? 0x407 : 0x007);
	}
}

/* A cell that could run together with that of good(): another function, with the same first BAR */
static void other(struct qv_mon_create *b)
{
	good(b);
	b->block_pa = 50 * QV_HUGE;
	b->console_pa = 51 * QV_HUGE;
	b->runs[0].pa = 52 * QV_HUGE;
	b->cpus[0] = 3;
	b->ports[0] = (struct qv_mon_ports){ 0x3f8, 0x3f8 };
	b->devices[0].bdf = 0x30;
	config_set(0x30, 0, 1);
	config_set(0x30, 0x0c, 0);
	config_set(0x30, 0x10, BAR);
	config_set(0x30, 0x18, 0x2f9);
}

/* Two cells with the same false range may be created, but only one of them starts. */
static void overlapping_claims(void)
{
	static struct qv_mon_create a, b;
	struct world w;

	world_open(&w);
	pci_world_function(OWN, BAR);
	good(&a);
	CHECK_EQ(world_create(&w, &a), 1);
	other(&b);
	b.devices[0].bdf = OWN;
	CHECK_EQ(world_create(&w, &b), QV_ME_DEVICE_TAKEN);
	other(&b);
	b.devices[0].bars[2].len = 0;
	CHECK_EQ(world_create(&w, &b), 2);
	CHECK_EQ(world_start(&w, 2), 0);
	CHECK_EQ(world_start(&w, 1), QV_ME_DEVICE_TAKEN);
	CHECK(!front(BAR).present);
}

/* The same for ports: of two BARs, of a BAR and a list, of two lists */
static void overlapping_ports(void)
{
	static const struct { u32 bar; struct qv_mon_ports list; } kinds[] = {
		{ 0xc018, { 0x3f8, 0x3f8 } }, { 0x2f8, { 0x3f8, 0x3f8 } },
		{ 0xd000, { 0xc01f, 0xc020 } }, { 0xd000, { 0x2f9, 0x2ff } },
	};
	static struct qv_mon_create a, b;
	struct world w;
	u32 i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		unit_case("kind %u:", i);
		world_open(&w);
		pci_world_function(OWN, BAR);
		good(&a);
		other(&b);
		b.devices[0].bars[0].base = BAR + 0x10000;
		config_set(0x30, 0x10, BAR + 0x10000);
		b.devices[0].bars[2].base = kinds[i].bar;
		config_set(0x30, 0x18, kinds[i].bar | 1);
		b.ports[0] = kinds[i].list;
		CHECK_EQ(world_create(&w, &b), 1);
		CHECK_EQ(world_create(&w, &a), 2);
		CHECK_EQ(world_start(&w, 2), 0);
		CHECK_EQ(world_start(&w, 1), QV_ME_PORT_TAKEN);
		CHECK_EQ(world_reclaim(&w, 1), 0);
		CHECK_EQ(world_create(&w, &b), QV_ME_PORT_TAKEN);
	}
}

UNIT_SUITE(pci_manage) = {
	{ "pci: a function is given and returned", given_and_taken_back },
	{ "pci: large registers come back unchanged", large_bar },
	{ "pci: each malformed function is rejected", refusals },
	{ "pci: a virtual function lies where its physical function says", virtual_function },
	{ "pci: a function without a pin cannot assert its line", line },
	{ "pci: of overlapping claims only one cell starts", overlapping_claims },
	{ "pci: of two cells with a port only one starts", overlapping_ports },
	{ 0 }
};
