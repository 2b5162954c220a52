// SPDX-License-Identifier: GPL-2.0-only
/* The IOMMU under the monitor, with a fake VT-d unit that caches */
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "abi/log.h"
#include "core/log.h"
#include "fake_vtd.h"
#include "cross/iommu_tables.h"
#include "iommu/iommu.h"
#include "iommu/vtd.h"
#include "tables/nested.h"
#include "unit.h"

static void test_take_confines_devices_and_give_restores(void)
{
	struct pcpu *cpu = fake_vtd_open(false);
	static const u32 same[] = {
		VTD_GSTS, VTD_IQA, VTD_IQH, VTD_IQT, VTD_FECTL, 0x40, VTD_IRTA, VTD_RTADDR,
	};
	u32 before[8], i;

	for (i = 0; i < 8; i++)
		before[i] = *fake_vtd_reg(same[i]);
	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	CHECK(*fake_vtd_reg(VTD_GSTS) & VTD_TE);
	CHECK_EQ(*fake_vtd_reg(VTD_FECTL), VTD_MASKED);
	CHECK_EQ(fake_vtd_dma(0x5000), 0x5000);
	CHECK_EQ(fake_vtd_dma_of(0xffff, 0x5000), 0x5000);
	CHECK_EQ(fake_vtd_dma_of(0xffff, FAKE_BLOCK), 0);
	CHECK_EQ(fake_vtd_dma(32 << 20), 32 << 20);
	CHECK_EQ(fake_vtd_dma(FAKE_BLOCK), 0);
	CHECK_EQ(fake_vtd_dma(FAKE_BLOCK + QV_BLOCK_FRONT_END - 8), 0);
	CHECK_EQ(fake_vtd_dma(FAKE_BLOCK + QV_BLOCK_FRONT_END), FAKE_BLOCK + QV_BLOCK_FRONT_END);
	CHECK_EQ(fake_vtd_dma(0xa0000), 0);
	CHECK_EQ(fake_vtd_dma(0xc0000), 0xc0000);
	CHECK_EQ(fake_vtd_dma(FAKE_UNIT), 0);
	CHECK_EQ(front_owner(&me()->nested, FAKE_UNIT, 1), FRONT_HOLE);
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_OK);
	for (i = 0; i < 8; i++)
		CHECK_EQ(*fake_vtd_reg(same[i]), before[i]);
	CHECK_EQ(fake_vtd.root, FAKE_ROOT);
	CHECK_EQ(fake_vtd.irta, *fake_vtd_reg(VTD_IRTA));
	CHECK_EQ(front_owner(&me()->nested, FAKE_UNIT, 1), FRONT_OWNS);
}

static void test_registers_are_hidden_whenever_the_monitor_owns_them(void)
{
	struct pcpu *cpu = fake_vtd_open(false);

	CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_STATE);
	CHECK_EQ(front_owner(&me()->nested, FAKE_UNIT, 1), FRONT_HOLE);
	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	CHECK_EQ(fake_take(cpu), QV_ME_STATE);
	CHECK_EQ(front_owner(&me()->nested, FAKE_UNIT, 1), FRONT_HOLE);
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_OK);
	CHECK_EQ(front_owner(&me()->nested, FAKE_UNIT, 1), FRONT_OWNS);
	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	CHECK_EQ(front_owner(&me()->nested, FAKE_UNIT, 1), FRONT_HOLE);
	CHECK_EQ(fake_vtd_dma(FAKE_BLOCK), 0);
}

static void test_no_device_reaches_a_unit_outside_all_holes(void)
{
	static const u64 at[] = { 0xd0000000, 0x80001000, 0xfebff000, 0xa1000 };
	struct instance *inst = me();
	u32 i;

	for (i = 0; i < sizeof(at) / 8; i++) {
		fake_vtd_prepare(false);
		inst->boot.iommus.units[0].pa = at[i];
		inst->boot.iommus.units[0].len = 2 * QV_PAGE;
		CHECK_EQ(iommu_tables(inst), 0);
		*fake_vtd_reg(VTD_GSTS) |= VTD_TE;
		fake_vtd.root = inst->iommu.root;
		CHECK_EQ(fake_vtd_dma(at[i]), 0);
		CHECK_EQ(fake_vtd_dma(at[i] + 2 * QV_PAGE - 8), 0);
		if (i != 3)				/* a part of another hole */
			CHECK_EQ(fake_vtd_dma(at[i] - 8), at[i] - 8);
		if (i < 2)
			CHECK_EQ(fake_vtd_dma(at[i] + 2 * QV_PAGE), at[i] + 2 * QV_PAGE);
	}
}

/* Prepares a machine with this much RAM and with units whose registers split pages of 2 MiB */
static void prepare_large(u64 gib)
{
	struct qv_mon_boot *b = &me()->boot;

	fake_vtd_prepare(false);
	b->ram[b->num_ram - 1].end = gib << 30;
	for (b->iommus.num = 0; b->iommus.num < QV_MON_IOMMUS; b->iommus.num++) {
		b->iommus.units[b->iommus.num].pa = 0xd01ff000 + (b->iommus.num << 22);
		b->iommus.units[b->iommus.num].len = 2 * QV_PAGE;
	}
}

static void test_tables_that_fit_are_made(void)
{
	u64 gib = 128;

	for (prepare_large(gib); iommu_fits(me()); prepare_large(gib))
		gib++;
	CHECK(gib > 128 && gib < 1024);
	prepare_large(gib - 1);
	CHECK_EQ(iommu_tables(me()), 0);
}

static void test_memory_leaves_devices_with_linux(void)
{
	struct pcpu *cpu = fake_vtd_open(true);
	u64 pa = 100ull << 20;

	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	CHECK_EQ(fake_vtd_dma(pa), pa);
	iommu_follow(me(), pa, QV_HUGE, false);
	CHECK_EQ(fake_vtd_dma(pa), pa);			/* the fake unit caches */
	CHECK(iommu_flush(cpu));
	CHECK_EQ(fake_vtd_dma(pa), 0);
	CHECK_EQ(fake_vtd_dma(pa + QV_HUGE), pa + QV_HUGE);
	iommu_follow(me(), pa + QV_PAGE, QV_PAGE, true);	/* a part opens nothing */
	CHECK_EQ(fake_vtd_dma(pa + QV_PAGE), 0);
	iommu_follow(me(), pa, QV_HUGE, true);
	CHECK_EQ(fake_vtd_dma(pa), pa);
	iommu_follow(me(), pa + QV_PAGE, QV_PAGE, false);	/* a part closes all */
	CHECK(iommu_flush(cpu));
	CHECK_EQ(fake_vtd_dma(pa), 0);
	iommu_follow(me(), 0x80000000, QV_HUGE, true);
	iommu_follow(me(), 0xfee00000, QV_PAGE, true);
	CHECK_EQ(fake_vtd_dma(0xfee00000), 0);
}

static void test_queue_of_linux_is_copied_and_checked(void)
{
	struct pcpu *cpu = fake_vtd_open(true);
	struct iommu_unit *u = &me()->iommu.units[0];
	u32 denied, done = 0, poison = 0x1234;

	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	denied = cpu->status->denied;
	fake_vtd.interrupts = 0;
	fake_vtd_put(5 * 16, VTD_INTERRUPTS | 1 << 4 | 7ull << 32, 0);
	fake_vtd_put(6 * 16, VTD_IOTLB | VTD_GLOBAL, 0);
	fake_vtd_put(7 * 16, VTD_WAIT | VTD_WAIT_STORE | 2ull << 32, FAKE_STATUS);
	vtd_write(cpu, u, VTD_IQT, 8 * 16);
	memcpy(&done, fake_ram + FAKE_STATUS, 4);
	CHECK_EQ(done, 2);
	CHECK_EQ(fake_vtd.interrupts, 1);
	CHECK_EQ(unit_read(cpu, u, VTD_IQH), 8 * 16);
	CHECK_EQ(cpu->status->denied, denied);
	/* stores into the monitor and beyond RAM, an interrupt, unknown requests */
	memcpy(fake_ram + FAKE_BLOCK + QV_BLOCK_FRONT_END - 4, &poison, 4);
	fake_vtd_put(8 * 16, VTD_WAIT | VTD_WAIT_STORE, FAKE_BLOCK + QV_BLOCK_FRONT_END - 4);
	vtd_write(cpu, u, VTD_IQT, 9 * 16);
	fake_vtd_put(9 * 16, VTD_WAIT | VTD_WAIT_STORE, FAKE_UNIT);
	vtd_write(cpu, u, VTD_IQT, 10 * 16);
	fake_vtd_put(10 * 16, VTD_WAIT | VTD_WAIT_IRQ, 0);
	vtd_write(cpu, u, VTD_IQT, 11 * 16);
	fake_vtd_put(11 * 16, 0xf, ~0ull);
	vtd_write(cpu, u, VTD_IQT, 12 * 16);
	vtd_write(cpu, u, VTD_IQT, 0x1000);
	vtd_write(cpu, u, VTD_IQT, 8);
	CHECK_EQ(cpu->status->denied, denied + 6);
	memcpy(&poison, fake_ram + FAKE_BLOCK + QV_BLOCK_FRONT_END - 4, 4);
	CHECK_EQ(poison, 0x1234);
	CHECK_EQ(unit_read(cpu, u, VTD_IQT), 12 * 16);
}

static void test_registers_keep_the_monitors_values(void)
{
	struct pcpu *cpu = fake_vtd_open(true);
	struct iommu_unit *u = &me()->iommu.units[0];

	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	CHECK_EQ(unit_read(cpu, u, VTD_RTADDR), FAKE_ROOT);
	vtd_write(cpu, u, VTD_GCMD, VTD_QIE);		/* Linux turns translation off */
	CHECK_EQ(unit_read(cpu, u, VTD_GSTS) & VTD_TE, 0);
	vtd_write(cpu, u, VTD_RTADDR, 0x1000);
	vtd_write(cpu, u, 0xb8, 0x1000);
	vtd_write(cpu, u, VTD_FECTL, 0);
	CHECK(*fake_vtd_reg(VTD_GSTS) & VTD_TE);
	CHECK_EQ(*fake_vtd_reg(VTD_RTADDR), (u32)me()->iommu.root);
	CHECK_EQ(*fake_vtd_reg(VTD_IRTA) & ~0xfffu, (u32)u->irt);
	CHECK_EQ(unit_read(cpu, u, VTD_IRTA), FAKE_IRT | VTD_WIDE | 9);
	CHECK_EQ(*fake_vtd_reg(VTD_FECTL), VTD_MASKED);
	CHECK_EQ(unit_read(cpu, u, VTD_FECTL), 0);
}

static void test_states_that_are_unknown_are_not_taken(void)
{
	struct pcpu *cpu = fake_vtd_open(true);

	*fake_vtd_reg(VTD_IQA) |= 1;			/* a longer queue */
	CHECK_EQ(fake_take(cpu), QV_ME_IOMMU);
	CHECK_EQ(front_owner(&me()->nested, FAKE_UNIT, 1), FRONT_OWNS);
	cpu = fake_vtd_open(true);
	*fake_vtd_reg(VTD_RTADDR) |= 0x400;		/* scalable mode */
	CHECK_EQ(fake_take(cpu), QV_ME_IOMMU);
	fake_vtd_stage = 2;
	cpu = fake_vtd_open(true);
	*fake_vtd_reg(VTD_RTADDR) &= ~0x400u;		/* legacy mode */
	CHECK_EQ(fake_take(cpu), QV_ME_IOMMU);
	*fake_vtd_reg(VTD_RTADDR) |= 0xc00;		/* all DMA is aborted */
	CHECK_EQ(fake_take(cpu), QV_ME_IOMMU);
	cpu = fake_vtd_open(true);
	*fake_vtd_reg(VTD_IQA) &= ~1u;			/* a shorter queue */
	CHECK_EQ(fake_take(cpu), QV_ME_IOMMU);
	fake_vtd_stage = 0;
	cpu = fake_vtd_open(true);
	*fake_vtd_reg(VTD_IQH) = 0;			/* Linux's requests are never done */
	fake_vtd.dead = true;
	CHECK_EQ(fake_take(cpu), QV_ME_IOMMU);
	CHECK_EQ(*fake_vtd_reg(VTD_IQA), FAKE_RING);
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_STATE);
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_LOOK, 0), QV_ME_STATE);
	cpu = fake_vtd_open(true);
	me()->manager.cells[1].state = QV_MON_RUNNING;
	CHECK_EQ(fake_take(cpu), QV_ME_STATE);
}

static void test_unit_that_dies_is_reported(void)
{
	struct pcpu *cpu = fake_vtd_open(true);

	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	fake_vtd.dead = true;
	CHECK(!iommu_flush(cpu));
}

/* Else the unit would wake up to a part of its requests, and report that all are carried out */
static void test_requests_that_a_sleeping_unit_has_not_read_stay(void)
{
	struct pcpu *cpu = fake_vtd_open(true);
	u32 i;

	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	fake_vtd.interrupts = 0;
	fake_vtd.dead = true;
	me()->boot.tsc_khz = 1;				/* short deadlines */
	for (i = 0; i < 100; i++)
		CHECK(!iommu_flush(cpu));
	fake_vtd.dead = false;
	CHECK(!iommu_flush(cpu));
	CHECK(fake_vtd.interrupts >= 60);
	CHECK(!iommu_flush(cpu));
}

static void test_give_while_a_unit_is_in_use_changes_nothing(void)
{
	struct pcpu *cpu = fake_vtd_open(true);

	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	me()->locks[LOCK_IOMMU] = 2;				/* CPU 1 does not let go */
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_BUSY);
	CHECK(me()->iommu.owned);
	CHECK_EQ(front_owner(&me()->nested, FAKE_UNIT, 1), FRONT_HOLE);
	me()->locks[LOCK_IOMMU] = 0;
	CHECK_EQ(fake_vtd_dma(FAKE_BLOCK), 0);
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_OK);
}

static void test_take_waits_for_a_cpu_that_uses_a_unit(void)
{
	struct pcpu *cpu = fake_vtd_open(true);
	u32 step;

	me()->locks[LOCK_IOMMU] = 2;				/* CPU 1 does not let go */
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_TAKE, 0), QV_ME_BUSY);
	CHECK(!me()->iommu.units[0].step);
	CHECK_EQ(front_owner(&me()->nested, FAKE_UNIT, 1), FRONT_OWNS);
	me()->locks[LOCK_IOMMU] = 0;
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_TAKE, 0), QV_ME_BUSY);
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_TAKE, 0), QV_ME_BUSY);
	step = me()->iommu.units[0].step;
	CHECK(step > 1);
	me()->locks[LOCK_IOMMU] = 2;
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_TAKE, 0), QV_ME_BUSY);
	CHECK_EQ(me()->iommu.units[0].step, step);		/* nothing is given up */
	CHECK_EQ(front_owner(&me()->nested, FAKE_UNIT, 1), FRONT_HOLE);
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_BUSY);
	me()->locks[LOCK_IOMMU] = 0;
	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	CHECK_EQ(fake_vtd_dma(FAKE_BLOCK), 0);
}

static void test_unit_that_dies_before_give_is_not_owned(void)
{
	struct pcpu *cpu = fake_vtd_open(true);

	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	fake_vtd.dead = true;
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_IOMMU);
	CHECK(!me()->iommu.owned);
	CHECK_EQ(front_owner(&me()->nested, FAKE_UNIT, 1), FRONT_OWNS);
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_IOMMU);
	CHECK_EQ(fake_take(cpu), QV_ME_IOMMU);
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_LOOK, 0), QV_ME_STATE);
	cpu = fake_vtd_open(true);
	fake_vtd.dead = true;				/* it dies while it is taken */
	CHECK_EQ(fake_take(cpu), QV_ME_IOMMU);
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_IOMMU);
	CHECK_EQ(front_owner(&me()->nested, FAKE_UNIT, 1), FRONT_OWNS);
}

static void test_faults_are_logged_once(void)
{
	struct pcpu *cpu = fake_vtd_open(true);
	const struct qv_mon_log *log = (const void *)(QV_VA_BLOCK + QV_OFF_LOG);
	const struct qv_mon_log_entry *last = log->entries[QV_MON_LOG_OTHER];
	u32 denied;

	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	denied = cpu->status->denied;
	*fake_vtd_reg(FAKE_FAULTS) = FAKE_BLOCK;
	*fake_vtd_reg(FAKE_FAULTS + 8) = 0x80;
	*fake_vtd_reg(FAKE_FAULTS + 12) = VTD_FAULT | 5;
	*fake_vtd_reg(VTD_FSTS) = 2;
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_LOOK, 0), QV_ME_OK);
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_LOOK, 0), QV_ME_OK);
	CHECK_EQ(cpu->status->denied, denied + 1);
	CHECK_EQ(*fake_vtd_reg(VTD_FSTS), 0);
	*fake_vtd_reg(FAKE_FAULTS + 4) = 7u << 16;		/* an interrupt by entry 7 */
	*fake_vtd_reg(FAKE_FAULTS + 12) = VTD_FAULT | 0x22;
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_LOOK, 0), QV_ME_OK);
	last += (log->head[QV_MON_LOG_OTHER] - 1) % QV_MON_LOG_ENTRIES;
	CHECK_EQ(last->what, QV_LOG_MESSAGE);
	CHECK_EQ(last->b, 7);
}

IN_EACH_MODE(test_take_confines_devices_and_give_restores)
IN_EACH_MODE(test_memory_leaves_devices_with_linux)
IN_EACH_MODE(test_tables_that_fit_are_made)

UNIT_SUITE(iommu) = {
	{ "iommu: a taken unit confines devices, and is given back as it was",
	  test_take_confines_devices_and_give_restores_in_each_mode },
	{ "iommu: Linux never has the registers of a taken unit",
	  test_registers_are_hidden_whenever_the_monitor_owns_them },
	{ "iommu: no device reaches a unit that is outside all holes",
	  test_no_device_reaches_a_unit_outside_all_holes },
	{ "iommu: tables that fit by their number of pages are made",
	  test_tables_that_fit_are_made_in_each_mode },
	{ "iommu: memory that leaves Linux leaves its devices",
	  test_memory_leaves_devices_with_linux_in_each_mode },
	{ "iommu: each request of Linux is copied and checked",
	  test_queue_of_linux_is_copied_and_checked },
	{ "iommu: registers keep the monitor's values", test_registers_keep_the_monitors_values },
	{ "iommu: a unit in an unknown state stays with Linux",
	  test_states_that_are_unknown_are_not_taken },
	{ "iommu: a unit that dies is reported", test_unit_that_dies_is_reported },
	{ "iommu: requests that a sleeping unit has not read are not overwritten",
	  test_requests_that_a_sleeping_unit_has_not_read_stay },
	{ "iommu: give changes nothing while a unit is in use",
	  test_give_while_a_unit_is_in_use_changes_nothing },
	{ "iommu: a take waits for a CPU that uses a unit",
	  test_take_waits_for_a_cpu_that_uses_a_unit },
	{ "iommu: a unit that dies before give is not owned",
	  test_unit_that_dies_before_give_is_not_owned },
	{ "iommu: faults are logged once", test_faults_are_logged_once },
	{ 0 }
};
