// SPDX-License-Identifier: GPL-2.0-only
/* DMA and messages of a function that moves to its heir, with a fake VT-d unit that caches */
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "core/pci.h"
#include "dma_world.h"
#include "fake_vtd.h"
#include "iommu/iommu.h"
#include "unit.h"
#include "world.h"

#define FUNCTION	0x28u		/* 00:05.0 */
#define OTHER		0x30u		/* the heir's from its start */
#define FIRST		(42 * QV_HUGE)	/* memory of the cells: one page each */
#define SECOND		(50 * QV_HUGE)
#define AT(cpu, vector)	((u64)(2 * (cpu)) << 8 | (vector))
#define MOVE		world_call(QV_HC_MOVE, 2 | 1 << 8)

static struct world w;

static u32 config_get(u32 bdf, u32 reg)
{
	return device_read(pcpu_of(0), FAKE_ECAM + (bdf << 12) + reg);
}

static void both_run(void)
{
	struct qv_mon_create *q;

	memset(&w, 0, sizeof(w));
	fake_vtd_open(true);
	dma_world_function(FUNCTION);
	dma_world_function(OTHER);
	CHECK_EQ(fake_take(pcpu_of(0)), QV_ME_OK);
	CHECK_EQ(world_create(&w, dma_world_request(FIRST, 2, FUNCTION)), 1);
	CHECK_EQ(world_start(&w, 1), 0);
	q = dma_world_request(SECOND, 3, OTHER);
	q->num_devices = 2;
	q->devices[1] = dma_world_device(FUNCTION, QV_MON_DEVICE_MASTER | QV_MON_DEVICE_HEIR);
	CHECK_EQ(world_create(&w, q), 2);
	CHECK_EQ(world_start(&w, 2), 0);
}

/* The function reaches the cell at @memory only; 0: nothing. This fills the caches, too */
static void check_reach(u32 bdf, u64 memory)
{
	u64 at;

	for (at = 0; at < FAKE_RAM; at += QV_PAGE) {
		bool special = at >= QV_SCREEN_GPA && at < QV_STREAM_GPA + 4 * QV_PAGE;

		if (!CHECK_EQ(fake_vtd_dma_of(bdf, at),
			      memory && at < QV_HUGE && !special ? memory + at : 0))
			return;
	}
}

/* Its MSI and MSI-X, as its registers are */
static void check_messages(u32 bdf, u64 want)
{
	CHECK_EQ(fake_vtd_interrupt(bdf, config_get(bdf, 0x44), config_get(bdf, 0x4c)), want);
	CHECK_EQ(fake_vtd_interrupt(bdf, device_read(pcpu_of(0), DMA_BAR(bdf) + 16),
				    device_read(pcpu_of(0), DMA_BAR(bdf) + 24)), want);
}

/* No entry of the table lets the function interrupt the CPU */
static void check_silent(u32 bdf, u32 cpu)
{
	u32 index;

	for (index = 0; index < me()->iommu.irtes; index++) {
		u64 got = fake_vtd_interrupt(bdf, 0xfee00010 | index << 5, 0);

		if (!CHECK(!got || got >> 8 != 2 * cpu))
			return;
	}
}

/* In a device the upper half of the command is read-only */
static void stop(u32 id)
{
	CHECK_EQ(world_stop(&w, id), 0);
	dma_world_set(FUNCTION, 4, config_get(FUNCTION, 4) | 1u << 20);
}

static void destroy(u32 id)
{
	stop(id);
	while (world_reclaim(&w, id) == 1)
		;
}

static void test_dma_and_messages_move(void)
{
	u32 address, data;

	both_run();
	check_reach(FUNCTION, FIRST);
	check_messages(FUNCTION, AT(2, 0xff));
	check_reach(OTHER, SECOND);
	check_messages(OTHER, AT(3, 0xff));
	address = config_get(FUNCTION, 0x44), data = config_get(FUNCTION, 0x4c);
	stop(1);
	check_reach(FUNCTION, 0);
	check_silent(FUNCTION, 2);
	check_silent(FUNCTION, 3);
	CHECK_EQ(MOVE, QV_ME_OK);
	check_reach(FUNCTION, SECOND);
	check_messages(FUNCTION, AT(3, 0xff));
	check_silent(FUNCTION, 2);
	CHECK_EQ(fake_vtd_interrupt(FUNCTION, address, data), 0);	/* that of the first cell */
	check_reach(OTHER, SECOND);
	check_messages(OTHER, AT(3, 0xff));
	while (world_reclaim(&w, 1) == 1)
		check_reach(FUNCTION, SECOND);
	check_reach(FUNCTION, SECOND);
	check_messages(FUNCTION, AT(3, 0xff));
	destroy(2);
	CHECK_EQ(fake_vtd_dma_of(FUNCTION, 0x5000), 0x5000);
	CHECK_EQ(fake_vtd_dma_of(FUNCTION, SECOND), SECOND);
	check_silent(FUNCTION, 3);
	CHECK_EQ(call_iommu(pcpu_of(0), QV_IOMMU_GIVE, 0), QV_ME_OK);
}

/* An heir that ends before it inherits does not disturb the function */
static void test_heir_that_ends_changes_nothing(void)
{
	both_run();
	check_reach(FUNCTION, FIRST);
	check_messages(FUNCTION, AT(2, 0xff));
	destroy(2);
	check_reach(FUNCTION, FIRST);
	check_messages(FUNCTION, AT(2, 0xff));
	destroy(1);
	CHECK_EQ(fake_vtd_dma_of(FUNCTION, 0x5000), 0x5000);
}

/* A unit that has not flushed may still let the function reach the first cell */
static void test_move_waits_until_the_units_have_flushed(void)
{
	both_run();
	check_reach(FUNCTION, FIRST);
	me()->locks[LOCK_IOMMU] = 2;	/* another CPU does not let go of the units */
	stop(1);
	CHECK_EQ(MOVE, QV_ME_IOMMU);
	CHECK_EQ(MOVE, QV_ME_IOMMU);
	me()->locks[LOCK_IOMMU] = 0;
	CHECK_EQ(MOVE, QV_ME_OK);
	check_reach(FUNCTION, SECOND);
	check_messages(FUNCTION, AT(3, 0xff));
}

/* The function is the heir's then, but the unit may still block it */
static void test_move_says_that_a_unit_does_not_answer(void)
{
	both_run();
	stop(1);
	check_reach(FUNCTION, 0);
	me()->boot.tsc_khz = 1;		/* short deadlines */
	fake_vtd.dead = true;
	CHECK_EQ(MOVE, QV_ME_SILENT);
	CHECK_EQ(MOVE, QV_ME_HEIR);
	fake_vtd.dead = false;
	destroy(2);
	check_silent(FUNCTION, 3);
	CHECK_EQ(fake_vtd_dma_of(FUNCTION, SECOND), SECOND);
}

/* The heir has its entries for messages from the start: no other cell gets them */
static void test_entries_are_reserved_for_the_heir(void)
{
	both_run();
	CHECK_EQ(me()->iommu.messages[2].num, 512);
	CHECK(me()->iommu.messages[1].first + me()->iommu.messages[1].num <=
	      me()->iommu.messages[2].first);
}

IN_EACH_MODE(test_dma_and_messages_move)
IN_EACH_MODE(test_heir_that_ends_changes_nothing)

UNIT_SUITE(iommu_move) = {
	{ "iommu move: DMA and messages move to the heir",
	  test_dma_and_messages_move_in_each_mode },
	{ "iommu move: an heir that ends changes nothing",
	  test_heir_that_ends_changes_nothing_in_each_mode },
	{ "iommu move: it waits until the units have flushed",
	  test_move_waits_until_the_units_have_flushed },
	{ "iommu move: it says that a unit does not answer",
	  test_move_says_that_a_unit_does_not_answer },
	{ "iommu move: entries for messages are reserved", test_entries_are_reserved_for_the_heir },
	{ 0 }
};
