// SPDX-License-Identifier: GPL-2.0-only
/* The IOMMU under the monitor, with a fake AMD-Vi unit that caches */
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "abi/log.h"
#include "fake_amdvi.h"
#include "iommu/amdvi.h"
#include "iommu/iommu.h"
#include "tables/nested.h"
#include "unit.h"

#define DEVICE		0x80u
#define ENTRY(cpu)	(1 | (u64)(2 * (cpu)) << 8)	/* fixed, physical, to the fake CPU @cpu */
#define VECTOR		0x51u
#define TO(cpu)		(2u * (cpu) << 8 | VECTOR)
#define TABLE		(13ull << 20)		/* of Linux: two levels */

static struct iommu_unit *unit(void)
{
	return &me()->iommu.units[0];
}

static void take(struct pcpu *cpu)
{
	CHECK_EQ(fake_take(cpu), QV_ME_OK);
}

static void linux_irte(u32 index, u64 low, u64 high)
{
	memcpy(fake_ram + FAKE_AMDVI_IRT + index * 16, &low, 8);
	memcpy(fake_ram + FAKE_AMDVI_IRT + index * 16 + 8, &high, 8);
}

static void announce(struct pcpu *cpu)
{
	fake_amdvi_request(cpu, AMDVI_REQUEST(AMDVI_INTERRUPTS) | DEVICE, 0);
}

static void test_take_confines_devices_and_give_restores(void)
{
	struct pcpu *cpu = fake_amdvi_open(false);
	static struct fake_amdvi_unit before;
	u32 i;

	before = fake_amdvi;
	CHECK_EQ(fake_amdvi_dma(DEVICE, FAKE_BLOCK), FAKE_BLOCK);
	take(cpu);
	CHECK(!(fake_amdvi_reg64(AMDVI_CONTROL) & AMDVI_OFF_FOR_US));
	CHECK_EQ(fake_amdvi_dma(DEVICE, 0x5000), 0x5000);
	CHECK_EQ(fake_amdvi_dma(DEVICE, 32 << 20), 32 << 20);
	CHECK_EQ(fake_amdvi_dma(DEVICE, FAKE_BLOCK), 0);
	CHECK_EQ(fake_amdvi_dma(DEVICE, FAKE_BLOCK + QV_BLOCK_FRONT_END), FAKE_BLOCK +
		 QV_BLOCK_FRONT_END);
	CHECK_EQ(fake_amdvi_dma(DEVICE, FAKE_AMDVI), 0);
	CHECK_EQ(fake_amdvi_dma(DEVICE, 0xfec01000), 0);
	CHECK_EQ(fake_amdvi_dma(0x88, 0x5000), 0);	/* no device of Linux */
	CHECK_EQ(fake_amdvi_message(0x88, 3), 0);
	CHECK_EQ(front_owner(&me()->nested, FAKE_AMDVI, 1), FRONT_HOLE);
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_OK);
	for (i = 0; i < FAKE_AMDVI_LEN / 4; i++)
		CHECK_EQ(fake_amdvi.regs[i], before.regs[i]);
	CHECK_EQ(fake_amdvi_dma(DEVICE, FAKE_BLOCK), FAKE_BLOCK);
	CHECK_EQ(front_owner(&me()->nested, FAKE_AMDVI, 1), FRONT_OWNS);
}

static void test_memory_leaves_devices_with_linux(void)
{
	struct pcpu *cpu = fake_amdvi_open(false);
	u64 pa = 100ull << 20;

	take(cpu);
	CHECK_EQ(fake_amdvi_dma(DEVICE, pa), pa);
	iommu_follow(me(), pa, QV_HUGE, false);
	CHECK_EQ(fake_amdvi_dma(DEVICE, pa), pa);		/* the fake unit caches */
	CHECK(iommu_flush(cpu));
	CHECK_EQ(fake_amdvi_dma(DEVICE, pa), 0);
	iommu_follow(me(), pa, QV_HUGE, true);
	CHECK_EQ(fake_amdvi_dma(DEVICE, pa + 4096), pa + 4096);
}

static void test_entries_of_devices_are_followed(void)
{
	struct pcpu *cpu = fake_amdvi_open(false);
	static const u64 blocked[] = { DTE_VALID, DTE_VALID | DTE_OPEN | 7 << 9 };
	static const u64 open[] = {
		0, 1, DTE_VALID | DTE_OPEN, DTE_VALID | DTE_OPEN | 3 << 9 | FAKE_BLOCK
	};
	u32 i;

	take(cpu);
	for (i = 0; i < 4; i++) {
		fake_amdvi_device(0x88, open[i], 5, 0);
		if (!i)
			CHECK_EQ(fake_amdvi_dma(0x88, 0x5000), 0);	/* not announced */
		fake_amdvi_request(cpu, AMDVI_REQUEST(AMDVI_DEVICE) | 0x88, 0);
		CHECK_EQ(fake_amdvi_dma(0x88, 0x5000), 0x5000);
		CHECK_EQ(fake_amdvi_dma(0x88, FAKE_BLOCK), 0);
		fake_amdvi_device(0x88, blocked[i % 2], 5, 0);
		fake_amdvi_request(cpu, AMDVI_REQUEST(AMDVI_DEVICE) | 0x88, 0);
		CHECK_EQ(fake_amdvi_dma(0x88, 0x5000), 0);
	}
}

static void test_tables_of_linux_are_used_where_it_translates(void)
{
	struct pcpu *cpu = fake_amdvi_open(true);
	u64 entry[2] = { (TABLE + 4096) | 1 | 1 << 9 | DTE_OPEN, (20ull << 20) | 1 | DTE_OPEN };
	u32 denied;

	memset(fake_ram + TABLE, 0, 8192);
	memcpy(fake_ram + TABLE, &entry[0], 8);
	memcpy(fake_ram + TABLE + 4096 + 5 * 8, &entry[1], 8);
	take(cpu);
	CHECK_EQ(fake_amdvi_dma(DEVICE, 0x5678), (20 << 20) + 0x678);
	CHECK_EQ(fake_amdvi_dma(DEVICE, 0x6000), 0);
	memset(fake_ram + TABLE + 4096 + 5 * 8, 0, 8);
	fake_amdvi_request(cpu, AMDVI_REQUEST(AMDVI_PAGES) | 8ull << 32, 0x5000);
	CHECK_EQ(fake_amdvi_dma(DEVICE, 0x5678), (20 << 20) + 0x678);	/* of another domain */
	fake_amdvi_request(cpu, AMDVI_REQUEST(AMDVI_PAGES) | 7ull << 32 | 0xfff, 0x5000);
	CHECK_EQ(fake_amdvi_dma(DEVICE, 0x5678), 0);
	denied = cpu->status->denied;
	fake_amdvi_request(cpu, AMDVI_REQUEST(AMDVI_PAGES) | 7ull << 32, 0x5004);
	CHECK_EQ(cpu->status->denied, denied + 1);
	/* no device of Linux gets the number of a cell's table */
	fake_amdvi_device(DEVICE, DTE_VALID | DTE_OPEN | 2 << 9 | TABLE, FAKE_AMDVI_DOMAIN + 1,
			  FAKE_AMDVI_IRT);
	fake_amdvi_request(cpu, AMDVI_REQUEST(AMDVI_DEVICE) | DEVICE, 0);
	CHECK_EQ(fake_amdvi_dma(DEVICE, 0x5000), 0);
	fake_amdvi_device(0x88, DTE_VALID | DTE_OPEN, 0, 0);
	fake_amdvi_request(cpu, AMDVI_REQUEST(AMDVI_DEVICE) | 0x88, 0);
	CHECK_EQ(fake_amdvi_dma(0x88, FAKE_BLOCK), 0);		/* that table has a hole */
	CHECK_EQ(fake_amdvi_dma(0x88, 0x5000), 0x5000);
}

static void test_interrupts_reach_cpus_of_linux_only(void)
{
	struct pcpu *cpu = fake_amdvi_open(false);
	static const u64 forged[][2] = {
		{ ENTRY(0) | 2 << 2, VECTOR }, { ENTRY(0) | 4 << 2, VECTOR }, { ENTRY(0), 3 },
		{ ENTRY(0) | 1 << 7, VECTOR }, { ENTRY(0), VECTOR | 1ull << 12 },
		{ 1 | 0xffffffull << 8, VECTOR | 0xffull << 56 },
		{ ENTRY(0), VECTOR | 1ull << 56 },
		{ ENTRY(0) | 1ull << 32, VECTOR },
		{ ENTRY(0) | 1 << 5, VECTOR }, { ENTRY(3), VECTOR },
		{ 1 | 1 << 6 | 1 << 6 << 8, VECTOR },
	};
	u32 denied, i;

	linux_irte(3, ENTRY(1), VECTOR);
	take(cpu);
	CHECK_EQ(fake_amdvi_message(DEVICE, 3), TO(1));
	linux_irte(3, ENTRY(2), VECTOR);
	CHECK_EQ(fake_amdvi_message(DEVICE, 3), TO(1));		/* not announced */
	announce(cpu);
	CHECK_EQ(fake_amdvi_message(DEVICE, 3), TO(2));
	me()->icr.own_cpus &= ~8ull;
	for (i = 0; i < sizeof(forged) / 16; i++) {
		denied = cpu->status->denied;
		linux_irte(3, forged[i][0], forged[i][1]);
		announce(cpu);
		CHECK_EQ(fake_amdvi_message(DEVICE, 3), 0);
		CHECK_EQ(cpu->status->denied, denied + 1);
	}
	linux_irte(3, ENTRY(2) | 2 | 1 << 2, VECTOR);
	announce(cpu);
	CHECK_EQ(fake_amdvi_message(DEVICE, 3), TO(2));
	me()->icr.own_cpus &= ~4ull;				/* Linux loses the CPU */
	CHECK(iommu_flush(cpu));
	CHECK_EQ(fake_amdvi_message(DEVICE, 3), 0);
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_OK);
	CHECK_EQ(fake_amdvi_message(DEVICE, 3), TO(2));
}

static void test_tables_of_interrupts_run_out(void)
{
	struct pcpu *cpu = fake_amdvi_open(false);
	u32 denied;

	linux_irte(3, ENTRY(1), VECTOR);
	take(cpu);
	denied = cpu->status->denied;
	fake_amdvi_device(0x88, DTE_VALID | DTE_OPEN, 0, FAKE_AMDVI_IRT);
	fake_amdvi_device(0x90, DTE_VALID | DTE_OPEN, 0, FAKE_AMDVI_IRT);
	fake_amdvi_request(cpu, AMDVI_REQUEST(AMDVI_DEVICE) | 0x88, 0);
	CHECK_EQ(cpu->status->denied, denied);
	CHECK_EQ(fake_amdvi_message(0x88, 3), TO(1));
	fake_amdvi_request(cpu, AMDVI_REQUEST(AMDVI_DEVICE) | 0x90, 0);
	fake_amdvi_request(cpu, AMDVI_REQUEST(AMDVI_DEVICE) | 0x90, 0);
	/* beyond the table */
	fake_amdvi_request(cpu, AMDVI_REQUEST(AMDVI_DEVICE) | 0x100, 0);
	CHECK_EQ(cpu->status->denied, denied + 3);
	CHECK_EQ(fake_amdvi_message(0x90, 3), 0);
	CHECK(iommu_flush(cpu));
}

static void test_stores_of_waits_reach_linux_only(void)
{
	struct pcpu *cpu = fake_amdvi_open(false);
	static const u64 bad[] = {
		FAKE_BLOCK, FAKE_BLOCK + QV_OFF_INSTANCE, FAKE_AMDVI, 0xfee00000, 1ull << 40
	};
	u64 done = 0, wait = AMDVI_REQUEST(AMDVI_WAIT) | AMDVI_WAIT_STORE;
	u32 denied, i;

	take(cpu);
	denied = cpu->status->denied;
	fake_amdvi_request(cpu, wait | FAKE_AMDVI_STATUS, 0x123456789abcull);
	memcpy(&done, fake_ram + FAKE_AMDVI_STATUS, 8);
	CHECK_EQ(done, 0x123456789abcull);
	CHECK_EQ(cpu->status->denied, denied);
	for (i = 0; i < 5; i++)
		fake_amdvi_request(cpu, wait | bad[i], 0xbad);
	fake_amdvi_request(cpu, wait | AMDVI_WAIT_IRQ | FAKE_AMDVI_STATUS, 0xbad);
	fake_amdvi_request(cpu, 0, 0);
	fake_amdvi_request(cpu, AMDVI_REQUEST(9), 0);
	fake_amdvi_request(cpu, AMDVI_REQUEST(15), 0);
	amdvi_ops.write(cpu, unit(), AMDVI_TAIL, 8);
	amdvi_ops.write(cpu, unit(), AMDVI_TAIL, 8192);
	CHECK_EQ(cpu->status->denied, denied + 11);
	memcpy(&done, fake_ram + FAKE_AMDVI_STATUS, 8);
	CHECK_EQ(done, 0x123456789abcull);
}

static void test_linux_sees_its_own_registers(void)
{
	struct pcpu *cpu = fake_amdvi_open(false);
	static const u32 same[] = {
		AMDVI_DEVICES, AMDVI_QUEUE, AMDVI_EVENTS, AMDVI_CONTROL, AMDVI_CONTROL + 4,
		AMDVI_HEAD, AMDVI_TAIL, AMDVI_EV_HEAD, AMDVI_EV_TAIL, AMDVI_STATUS
	};
	u32 before[10], denied, i;

	for (i = 0; i < 10; i++)
		before[i] = *fake_amdvi_reg(same[i]);
	take(cpu);
	denied = cpu->status->denied;
	for (i = 0; i < 10; i++)
		CHECK_EQ(unit_read(cpu, unit(), same[i]), before[i]);
	for (i = 0; i < 5; i++)
		amdvi_ops.write(cpu, unit(), same[i], 0);
	CHECK_EQ(cpu->status->denied, denied + 5);
	for (i = 0; i < 5; i++)
		CHECK_EQ(unit_read(cpu, unit(), same[i]), before[i]);
	CHECK_EQ(fake_amdvi_dma(DEVICE, FAKE_BLOCK), 0);
	/* the message of the unit is kept for later; the unit sends none */
	amdvi_ops.write(cpu, unit(), AMDVI_MESSAGES, 0x77);
	CHECK_EQ(cpu->status->denied, denied + 5);
	CHECK_EQ(*fake_amdvi_reg(AMDVI_MESSAGES), 0x3456789a);
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_OK);
	CHECK_EQ(*fake_amdvi_reg(AMDVI_MESSAGES), 0x77);
}

static void test_faults_are_counted(void)
{
	struct pcpu *cpu = fake_amdvi_open(false);
	u32 denied;

	take(cpu);
	denied = cpu->status->denied;
	fake_amdvi_event(2ull << 60 | DEVICE, 0x4000);
	fake_amdvi_event(2ull << 60 | AMDVI_OF_IRQ | DEVICE, 5);
	*fake_amdvi_reg(AMDVI_STATUS) = AMDVI_OVERFLOW | 1u << 4;	/* it has stopped */
	CHECK(iommu_look(cpu));
	CHECK_EQ(cpu->status->denied, denied + 2);
	CHECK_EQ(*fake_amdvi_reg(AMDVI_EV_HEAD), 0);
	CHECK_EQ(*fake_amdvi_reg(AMDVI_STATUS), AMDVI_RUN);
	CHECK(iommu_look(cpu) && iommu_flush(cpu));
	CHECK_EQ(cpu->status->denied, denied + 2);
	fake_amdvi_event(2ull << 60 | AMDVI_OF_IRQ | DEVICE, 0);	/* as QEMU does */
	CHECK(iommu_look(cpu));
	CHECK_EQ(cpu->status->denied, denied + 3);
	CHECK_EQ(*fake_amdvi_reg(AMDVI_EV_HEAD), 16);
}

static void test_unit_that_does_not_answer_is_not_taken(void)
{
	struct pcpu *cpu = fake_amdvi_open(false);
	static const u64 without[] = { AMDVI_ON, AMDVI_Q_ON, AMDVI_GA };
	u32 i;

	for (i = 0; i < 3; i++) {
		cpu = fake_amdvi_open(false);
		*fake_amdvi_reg(AMDVI_CONTROL) &= ~without[i];
		CHECK_EQ(fake_take(cpu), QV_ME_IOMMU);
	}
	cpu = fake_amdvi_open(false);
	me()->boot.tsc_khz = 1;
	*fake_amdvi_reg(AMDVI_HEAD) = 0;		/* requests are never carried out */
	CHECK_EQ(fake_take(cpu), QV_ME_IOMMU);
	CHECK(!me()->iommu.lost);
	cpu = fake_amdvi_open(false);
	me()->boot.tsc_khz = 1;
	fake_amdvi.dead = true;
	CHECK_EQ(fake_take(cpu), QV_ME_IOMMU);
}

/* Tables of a cell with one page of 2 MiB, at its address 0 */
static u64 cells_table(u64 pa)
{
	struct paging io = {
		.pt_pool = &me()->pt_pool, .levels = 4, .max_leaf = 2, .amdvi = 1,
		.root = pt_take(&me()->pt_pool),
	};

	CHECK(io.root && !paging_map(&io, 0, pa, QV_HUGE, me()->iommu.open));
	return io.root;
}

static void test_function_of_a_cell_reaches_the_cell_only(void)
{
	struct pcpu *cpu = fake_amdvi_open(false);
	u64 pa = 100ull << 20;
	u32 bdf, i;

	linux_irte(3, ENTRY(1), VECTOR);
	linux_irte(VECTOR, ENTRY(1), VECTOR);
	take(cpu);
	/* a function with interrupts of Linux, and a function that Linux does not know */
	for (bdf = DEVICE; bdf <= 0x88; bdf += 8) {
		CHECK(iommu_own(cpu, bdf));
		amdvi_set(cpu, &me()->iommu.units[0], bdf, 0, FAKE_AMDVI_DOMAIN + 1);
		CHECK(iommu_flush(cpu));
		fake_amdvi_request(cpu, AMDVI_REQUEST(AMDVI_DEVICE) | bdf, 0);
		announce(cpu);			/* Linux's entries are not followed */
		CHECK_EQ(fake_amdvi_dma(bdf, 0x5000), 0);
		for (i = 0; i < QV_MON_DEVICE_IRTES; i++)
			CHECK_EQ(fake_amdvi_message(bdf, i), 0);

		amdvi_messages(&me()->iommu.units[0], 0, bdf, 6, true);
		amdvi_set(cpu, &me()->iommu.units[0], bdf, cells_table(pa), FAKE_AMDVI_DOMAIN + 1);
		CHECK(iommu_flush(cpu));	/* and sweeps Linux's entries */
		announce(cpu);
		CHECK_EQ(fake_amdvi_dma(bdf, 0x5008), pa + 0x5008);
		CHECK_EQ(fake_amdvi_dma(bdf, QV_HUGE), 0);
		CHECK_EQ(fake_amdvi_dma(bdf, 20ull << 20), 0);
		for (i = 0; i < QV_MON_DEVICE_IRTES; i++)
			CHECK_EQ(fake_amdvi_message(bdf, i),
				 (i & 0xff) < 32 ? 0 : 6 << 8 | (i & 0xff));

		amdvi_set(cpu, &me()->iommu.units[0], bdf, 0, FAKE_AMDVI_DOMAIN);
		CHECK(iommu_look(cpu) && iommu_flush(cpu));
		CHECK_EQ(fake_amdvi_dma(bdf, pa), bdf == DEVICE ? pa : 0);
		CHECK_EQ(fake_amdvi_message(bdf, 3), bdf == DEVICE ? TO(1) : 0);
		CHECK_EQ(fake_amdvi_message(bdf, VECTOR + 1), 0);
	}
	CHECK(!iommu_own(cpu, 0x90));		/* two tables of interrupts are in use */
	CHECK(!iommu_own(cpu, 0x100));		/* behind the end of the table of devices */
	CHECK(iommu_own(cpu, 0x88));
}

UNIT_SUITE(amdvi) = {
	{ "amdvi: take confines devices, and give restores",
	  test_take_confines_devices_and_give_restores },
	{ "amdvi: memory leaves devices with Linux", test_memory_leaves_devices_with_linux },
	{ "amdvi: entries of devices are followed", test_entries_of_devices_are_followed },
	{ "amdvi: tables of Linux are used where it translates",
	  test_tables_of_linux_are_used_where_it_translates },
	{ "amdvi: interrupts reach CPUs of Linux only", test_interrupts_reach_cpus_of_linux_only },
	{ "amdvi: tables of interrupts run out", test_tables_of_interrupts_run_out },
	{ "amdvi: stores of waits reach Linux only", test_stores_of_waits_reach_linux_only },
	{ "amdvi: Linux sees its own registers", test_linux_sees_its_own_registers },
	{ "amdvi: faults are counted", test_faults_are_counted },
	{ "amdvi: a unit that does not answer is not taken",
	  test_unit_that_does_not_answer_is_not_taken },
	{ "amdvi: a function of a cell reaches the cell only",
	  test_function_of_a_cell_reaches_the_cell_only },
	{ 0 }
};
