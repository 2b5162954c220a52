// SPDX-License-Identifier: GPL-2.0-only
/* The memory and the CPUs that devices of cells reach, with a fake VT-d unit that caches */
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "core/pci.h"
#include "dma_world.h"
#include "fake_vtd.h"
#include "iommu/iommu.h"
#include "iommu/vtd.h"
#include "unit.h"
#include "world.h"

#define FIRST	0x28u		/* 00:05.0 */
#define OFF	0x29u		/* 00:05.1, with `dma: off` */
#define SECOND	0x108u		/* 01:01.0, a function of the other cell */
#define OF_LINUX 0x30u
#define CELL	(42 * QV_HUGE)	/* 2 pages, then a gap, then 1 page */
#define OTHER	(50 * QV_HUGE)
#define LEN	(3 * QV_HUGE)

static struct world w;

static struct pcpu *open_world(void)
{
	struct pcpu *cpu;

	memset(&w, 0, sizeof(w));
	cpu = fake_vtd_open(true);
	dma_world_function(FIRST);
	dma_world_function(OFF);
	dma_world_function(SECOND);
	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	return cpu;
}

static struct qv_mon_create *request(u64 memory, u32 cpu, u32 bdf)
{
	struct qv_mon_create *q = dma_world_request(memory, cpu, bdf);

	q->num_runs = 2;
	q->runs[0].count = 2;
	q->runs[1] = (struct qv_mon_run){ memory + 3 * QV_HUGE, 1 };
	return q;
}

static const struct qv_mon_create *first(void)
{
	struct qv_mon_create *q = request(CELL, 2, FIRST);

	q->num_devices = 2;
	q->devices[1] = dma_world_device(OFF, 0);
	return q;
}

/* The function reaches the RAM of the cell at @memory and nothing else */
static void check_confined(u32 bdf, u64 memory)
{
	u64 at;

	for (at = 0; at < FAKE_RAM; at += QV_PAGE) {
		bool special = at >= QV_SCREEN_GPA && at < QV_STREAM_GPA + 4 * QV_PAGE;
		u64 pa = memory + at + (at < 2 * QV_HUGE ? 0 : QV_HUGE);

		if (!CHECK_EQ(fake_vtd_dma_of(bdf, at), at < LEN && !special ? pa : 0))
			return;
	}
	CHECK_EQ(fake_vtd_dma_of(bdf, FAKE_UNIT), 0);
	CHECK_EQ(fake_vtd_dma_of(bdf, 1ull << 32), 0);
	CHECK_EQ(fake_vtd_dma_of(bdf, 1ull << 40), 0);
}

static void check_blocked(u32 bdf)
{
	u64 at;

	for (at = 0; at < FAKE_RAM; at += QV_PAGE)
		if (!CHECK_EQ(fake_vtd_dma_of(bdf, at), 0))
			return;
}

/* The function reaches all of Linux's RAM except what the cell has */
static void check_linux(u32 bdf, bool cell)
{
	CHECK_EQ(fake_vtd_dma_of(bdf, 0x5000), 0x5000);
	CHECK_EQ(fake_vtd_dma_of(bdf, CELL), cell ? 0 : CELL);
	CHECK_EQ(fake_vtd_dma_of(bdf, CELL + 3 * QV_HUGE), cell ? 0 : CELL + 3 * QV_HUGE);
	CHECK_EQ(fake_vtd_dma_of(bdf, FAKE_BLOCK), 0);
}

static void destroy(u32 id)
{
	u64 result;

	CHECK_EQ(world_stop(&w, id), 0);
	while ((result = world_reclaim(&w, id)) == 1)
		;
	CHECK_EQ(result, 0);
}

static void test_device_reaches_its_cell_only(void)
{
	u32 round;

	open_world();
	for (round = 0; round < 3; round++) {
		check_linux(FIRST, false);	/* fills the caches with translations of Linux */
		check_linux(OFF, false);
		CHECK_EQ(world_create(&w, first()), 1);
		check_linux(FIRST, false);
		CHECK_EQ(world_start(&w, 1), 0);
		check_confined(FIRST, CELL);
		check_blocked(OFF);
		check_linux(OF_LINUX, true);
		check_linux(FIRST | 0x100, true);
		check_confined(FIRST, CELL);
		CHECK_EQ(world_stop(&w, 1), 0);
		check_blocked(FIRST);
		while (w.state[1]) {
			if (world_reclaim(&w, 1) == 1)
				check_blocked(FIRST);
		}
		check_linux(FIRST, false);
		check_linux(OFF, false);
	}
	CHECK_EQ(call_iommu(pcpu_of(0), QV_IOMMU_GIVE, 0), QV_ME_OK);
}

/* The ROM of a cell on standby is what restores the cell, so devices must not write it */
static void test_device_does_not_reach_the_rom_of_its_cell(void)
{
	struct qv_mon_create q;

	open_world();
	q = *first();
	q.rom_runs = 1;
	q.standby = 1;
	q.standby_ms = 1000;
	CHECK_EQ(world_create(&w, &q), 1);
	CHECK_EQ(world_start(&w, 1), 0);
	CHECK_EQ(fake_vtd_dma_of(FIRST, 2 * QV_HUGE - QV_PAGE), CELL + 2 * QV_HUGE - QV_PAGE);
	CHECK_EQ(fake_vtd_dma_of(FIRST, 2 * QV_HUGE), 0);
	CHECK_EQ(fake_vtd_dma_of(FIRST, LEN - QV_PAGE), 0);
	destroy(1);
	CHECK_EQ(call_iommu(pcpu_of(0), QV_IOMMU_GIVE, 0), QV_ME_OK);
}

static void test_devices_of_two_cells_are_apart(void)
{
	u64 at;

	open_world();
	CHECK_EQ(world_create(&w, first()), 1);
	CHECK_EQ(world_create(&w, request(OTHER, 3, SECOND)), 2);
	CHECK_EQ(world_start(&w, 1), 0);
	CHECK_EQ(world_start(&w, 2), 0);
	check_confined(FIRST, CELL);
	check_confined(SECOND, OTHER);
	for (at = 0; at < LEN; at += 16 * QV_PAGE)	/* both have cached translations of it */
		CHECK(fake_vtd_dma_of(FIRST, at) != fake_vtd_dma_of(SECOND, at) ||
		      !fake_vtd_dma_of(FIRST, at));
	destroy(1);
	check_linux(FIRST, false);
	check_confined(SECOND, OTHER);
	destroy(2);
	check_linux(SECOND, false);
}

static void test_start_that_fails_gives_the_device_back(void)
{
	open_world();
	CHECK_EQ(world_create(&w, first()), 1);
	/* the function is gone: all its registers are ones */
	device_write(pcpu_of(0), FAKE_ECAM + (FIRST << 12 | 0x0c), ~0u);
	CHECK_EQ(world_start(&w, 1), QV_ME_DEVICE_NONE);
	check_linux(FIRST, false);
	check_linux(OFF, false);
	CHECK_EQ(world_reclaim(&w, 1), 0);
	check_linux(FIRST, false);
}

static void test_memory_stays_with_the_cell_until_the_unit_has_flushed(void)
{
	open_world();
	CHECK_EQ(world_create(&w, first()), 1);
	CHECK_EQ(world_start(&w, 1), 0);
	check_confined(FIRST, CELL);
	me()->locks[LOCK_IOMMU] = 2;	/* another CPU does not let go of the units */
	CHECK_EQ(world_stop(&w, 1), 0);
	CHECK_EQ(world_reclaim(&w, 1), QV_ME_IOMMU);
	CHECK_EQ(world_reclaim(&w, 1), QV_ME_IOMMU);
	CHECK_EQ(fake_ram[CELL], 0x5a);
	me()->locks[LOCK_IOMMU] = 0;
	CHECK_EQ(world_reclaim(&w, 1), 1);
	check_blocked(FIRST);
	while (world_reclaim(&w, 1) == 1)
		;
	check_linux(FIRST, false);
}

static void test_tables_that_do_not_fit_are_refused(void)
{
	open_world();
	me()->pt_pool.next = me()->pt_pool.end;
	CHECK_EQ(world_create(&w, first()), QV_ME_TABLES);
	check_linux(FIRST, false);
}

static void test_without_the_units_nothing_changes(void)
{
	struct pcpu *cpu = open_world();

	CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_OK);
	CHECK_EQ(world_create(&w, first()), 1);
	CHECK_EQ(world_start(&w, 1), 0);
	CHECK(!fake_instance(first()->block_pa)->iommu.table.root);
	CHECK_EQ(fake_take(cpu), QV_ME_STATE);
	destroy(1);
	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	check_linux(FIRST, false);
}

/* ---- messages ---- */

static u32 config_get(u32 bdf, u32 reg)
{
	return device_read(pcpu_of(0), FAKE_ECAM + (bdf << 12) + reg);
}

/* The interrupt that the function raises by its MSI, as its registers are: AT(), or 0 */
static u64 msi(u32 bdf)
{
	CHECK_EQ(config_get(bdf, 0x48), 0);
	return fake_vtd_interrupt(bdf, config_get(bdf, 0x44), config_get(bdf, 0x4c));
}

/* The same for an entry of its MSI-X table */
static u64 msix(u32 bdf, u32 entry)
{
	u64 at = DMA_BAR(bdf) + 16 * entry;

	CHECK_EQ(device_read(pcpu_of(0), at + 4), 0);
	return fake_vtd_interrupt(bdf, device_read(pcpu_of(0), at),
				  device_read(pcpu_of(0), at + 8));
}

/* The cell writes a message. As in cell/pci.c, with the rules that the manager has made */
static bool cell_msi(const struct instance *cell, u32 bdf, u32 address, u32 data)
{
	const struct pci_rule *r = cell->cell.pci.rules;
	u32 at, value;
	bool all = true;
	s64 out;

	for (; r < cell->cell.pci.rules + cell->cell.pci.num_rules; r++) {
		at = r->at & 0xfff;
		if (r->at >> 12 != bdf || (at != 0x44 && at != 0x4c))
			continue;
		value = at == 0x44 ? address : data;
		out = pci_filter(&cell->icr, r, config_get(bdf, at), value,
				 at == 0x44 ? ~0u : 0xffff);
		if (out >= 0)
			dma_world_set(bdf, at, out);
		all &= out >= 0;
	}
	return all;
}

/* An interrupt with this vector at CPU @cpu of the fake machine */
#define AT(cpu, vector)	((u64)(2 * (cpu)) << 8 | (vector))

/* Two CPUs; the second of three functions has `dma: off` */
static const struct qv_mon_create *with_messages(void)
{
	struct qv_mon_create *q = request(CELL, 2, FIRST);

	q->num_cpus = 2;
	q->cpus[1] = 3;
	q->num_devices = 3;
	q->devices[1] = dma_world_device(OFF, 0);
	q->devices[2] = dma_world_device(SECOND, QV_MON_DEVICE_MASTER);
	return q;
}

/* No message of any function reaches CPU 2 or 3, by any entry */
static void check_silent(void)
{
	static const u32 functions[] = { FIRST, OFF, SECOND, OF_LINUX };
	u32 i, index;

	for (i = 0; i < 4; i++)
		for (index = 0; index < me()->iommu.irtes; index++) {
			u64 got = fake_vtd_interrupt(functions[i], 0xfee00010 | index << 5, 0);

			if (!CHECK(!got || got >> 9 < 2))
				return;
		}
}

static void messages_reach_the_cell(u32 wide)
{
	const struct instance *cell;
	u32 round, i;

	open_world();
	CHECK_EQ(call_iommu(pcpu_of(0), QV_IOMMU_GIVE, 0), QV_ME_OK);
	*fake_vtd_reg(VTD_IRTA) = fake_vtd.irta = FAKE_IRT | wide | 9;
	CHECK_EQ(fake_take(pcpu_of(0)), QV_ME_OK);
	check_silent();
	for (round = 0; round < 2; round++) {
		dma_world_function(FIRST);	/* it has lost its status in the last round */
		dma_world_function(SECOND);
		CHECK_EQ(world_create(&w, with_messages()), 1);
		check_silent();			/* Linux has the function still */
		CHECK_EQ(world_start(&w, 1), 0);
		cell = fake_instance(with_messages()->block_pa);
		CHECK_EQ(msi(FIRST), AT(2, 0xff));
		CHECK_EQ(msix(SECOND, 3), AT(2, 0xff));
		for (i = 0; i < 20; i++) {
			CHECK(cell_msi(cell, FIRST, 0xfee04000 | (i & 1) << 13, 0x4051 + i));
			CHECK_EQ(msi(FIRST), AT(2 + (i & 1), 0x51 + i));
		}
		CHECK(cell_msi(cell, SECOND, 0xfee06000, 0x120));	/* lowest priority of one */
		CHECK_EQ(msi(SECOND), AT(3, 0x20));
		CHECK_EQ(msi(FIRST), AT(3, 0x64));
		CHECK(!cell_msi(cell, FIRST, 0xfee00000, 0x31));	/* Linux has CPU 0 */
		CHECK(!cell_msi(cell, FIRST, 0xfeeff000, 0x31));
		CHECK(!cell_msi(cell, FIRST, config_get(FIRST, 0x44), 0x31));
		CHECK_EQ(msi(FIRST), AT(3, 0x31));
		CHECK(!cell_msi(cell, FIRST, 0xfee04000, 0x1f));
		CHECK(!cell_msi(cell, FIRST, 0xfee04000, 0x431));
		CHECK_EQ(msi(FIRST), AT(2, 0x31));
		CHECK_EQ(world_stop(&w, 1), 0);
		check_silent();
		while (w.state[1])
			world_reclaim(&w, 1);
		check_silent();
	}
}

static void test_messages_reach_the_cpu_that_the_cell_names(void)
{
	messages_reach_the_cell(VTD_WIDE);
	messages_reach_the_cell(0);
}

/* A function tries all entries, and only its own send interrupts, to CPUs of its cell */
static void test_forged_messages_reach_own_cpus_only(void)
{
	static const struct { u32 bdf, cpu; } tries[] = {
		{ FIRST, 2 }, { SECOND, 3 }, { OFF, 0 }, { OF_LINUX, 0 }, { FIRST | 0x100, 0 },
	};
	u32 i, index, arrived;

	open_world();
	CHECK_EQ(world_create(&w, first()), 1);
	CHECK_EQ(world_create(&w, request(OTHER, 3, SECOND)), 2);
	CHECK_EQ(world_start(&w, 1), 0);
	CHECK_EQ(world_start(&w, 2), 0);
	for (i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		for (index = arrived = 0; index < me()->iommu.irtes; index++) {
			u64 got = fake_vtd_interrupt(tries[i].bdf, 0xfee00010 | index << 5, 0);

			arrived += !!got;
			if (!CHECK(!got || got >> 8 == 2 * tries[i].cpu) ||
			    !CHECK(!got || (got & 0xff) >= 32))
				break;
		}
		CHECK_EQ(arrived, tries[i].cpu ? 224 : 0);
	}
	for (i = 0; i < 256; i++)		/* the compatible format passes no table */
		CHECK_EQ(fake_vtd_interrupt(FIRST, 0xfee00000 | i << 12, 0x41), 0);
	/* an index beyond the table */
	CHECK_EQ(fake_vtd_interrupt(FIRST, 0xfeefffb8, 0xffff), 0);
}

static void test_messages_of_a_cell_end_with_it(void)
{
	u32 address, data;

	open_world();
	CHECK_EQ(world_create(&w, first()), 1);
	CHECK_EQ(world_create(&w, request(OTHER, 3, SECOND)), 2);
	CHECK_EQ(world_start(&w, 1), 0);
	CHECK_EQ(world_start(&w, 2), 0);
	CHECK_EQ(msi(FIRST), AT(2, 0xff));		/* the unit has cached the entry */
	address = config_get(FIRST, 0x44), data = config_get(FIRST, 0x4c);
	destroy(1);
	CHECK_EQ(fake_vtd_interrupt(FIRST, address, data), 0);
	CHECK_EQ(msi(SECOND), AT(3, 0xff));
	/* the next cell has the entries, and its own function alone may use them */
	dma_world_function(OF_LINUX);
	CHECK_EQ(world_create(&w, request(CELL, 2, OF_LINUX)), 1);
	CHECK_EQ(world_start(&w, 1), 0);
	CHECK_EQ(config_get(OF_LINUX, 0x44), address);
	CHECK_EQ(msi(OF_LINUX), AT(2, 0xff));
	CHECK_EQ(fake_vtd_interrupt(FIRST, address, data), 0);
	CHECK_EQ(msi(SECOND), AT(3, 0xff));
}

static void test_messages_that_find_no_entries_are_refused(void)
{
	struct qv_mon_create *q;
	u32 all;

	open_world();
	all = me()->iommu.irtes;
	CHECK_EQ(all, 16384);
	me()->iommu.irtes = QV_MON_IRTES + 256;
	CHECK_EQ(world_create(&w, with_messages()), QV_ME_MESSAGES);
	CHECK_EQ(world_create(&w, first()), 1);
	CHECK_EQ(world_create(&w, request(OTHER, 3, SECOND)), QV_ME_MESSAGES);
	CHECK_EQ(world_reclaim(&w, 1), 0);
	q = request(OTHER, 3, OFF);
	q->devices[0] = dma_world_device(OFF, 0);
	CHECK_EQ(world_create(&w, q), 1);
	me()->iommu.messages[1].first = QV_MON_IRTES + 1;	/* of an earlier cell */
	CHECK_EQ(world_create(&w, request(CELL, 2, FIRST)), 2);
	me()->iommu.irtes = all;
}

/* Where Linux does not remap, an ordinary message reaches CPUs: the filter has checked it */
static void test_messages_stay_ordinary_without_remapping(void)
{
	open_world();
	CHECK_EQ(call_iommu(pcpu_of(0), QV_IOMMU_GIVE, 0), QV_ME_OK);
	*fake_vtd_reg(VTD_GSTS) &= ~VTD_IRE;
	CHECK_EQ(fake_take(pcpu_of(0)), QV_ME_OK);
	CHECK_EQ(world_create(&w, first()), 1);
	CHECK_EQ(world_start(&w, 1), 0);
	CHECK_EQ(config_get(FIRST, 0x44), 0xfee04000);
	CHECK_EQ(device_read(pcpu_of(0), DMA_BAR(FIRST)), 0xfee04000);
	CHECK(cell_msi(fake_instance(first()->block_pa), FIRST, 0xfee04000, 0x4041));
	CHECK_EQ(config_get(FIRST, 0x44), 0xfee04000);
	CHECK_EQ(config_get(FIRST, 0x4c), 0x4041);
}

IN_EACH_MODE(test_device_reaches_its_cell_only)
IN_EACH_MODE(test_device_does_not_reach_the_rom_of_its_cell)
IN_EACH_MODE(test_devices_of_two_cells_are_apart)
IN_EACH_MODE(test_start_that_fails_gives_the_device_back)
IN_EACH_MODE(test_tables_that_do_not_fit_are_refused)
IN_EACH_MODE(test_forged_messages_reach_own_cpus_only)

UNIT_SUITE(iommu_cell) = {
	{ "iommu: a device of a cell reaches the cell's RAM only",
	  test_device_reaches_its_cell_only_in_each_mode },
	{ "iommu: a device does not reach the ROM of its cell",
	  test_device_does_not_reach_the_rom_of_its_cell_in_each_mode },
	{ "iommu: devices of two cells are apart",
	  test_devices_of_two_cells_are_apart_in_each_mode },
	{ "iommu: a start that fails gives the device back",
	  test_start_that_fails_gives_the_device_back_in_each_mode },
	{ "iommu: memory stays with its cell until the unit has flushed",
	  test_memory_stays_with_the_cell_until_the_unit_has_flushed },
	{ "iommu: tables of a bus that do not fit are refused",
	  test_tables_that_do_not_fit_are_refused_in_each_mode },
	{ "iommu: without the units a cell's device is as before",
	  test_without_the_units_nothing_changes },
	{ "iommu: messages reach the CPU that the cell names",
	  test_messages_reach_the_cpu_that_the_cell_names },
	{ "iommu: messages that a cell forges reach its own CPUs only",
	  test_forged_messages_reach_own_cpus_only_in_each_mode },
	{ "iommu: messages of a cell end with it", test_messages_of_a_cell_end_with_it },
	{ "iommu: messages that find no entries are refused",
	  test_messages_that_find_no_entries_are_refused },
	{ "iommu: messages stay ordinary without remapping",
	  test_messages_stay_ordinary_without_remapping },
	{ 0 }
};
