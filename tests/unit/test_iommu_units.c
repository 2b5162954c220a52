// SPDX-License-Identifier: GPL-2.0-only
/* Several units of VT-d or AMD-Vi, which no emulator has in one machine */
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "fake_amdvi.h"
#include "fake_vtd.h"
#include "cross/iommu_tables.h"
#include "iommu/iommu.h"
#include "iommu/vtd.h"
#include "tables/nested.h"
#include "unit.h"

#define MOST_ACCESSES	100	/* of a unit's registers by a take: a few hundred ns each */

static const u32 same[] = {
	VTD_GSTS, VTD_IQA, VTD_IQA + 4, VTD_IQH, VTD_IQT, VTD_FECTL, 0x40, VTD_IRTA, VTD_RTADDR,
};
#define NUM_SAME	(sizeof(same) / sizeof(same[0]))

static u32 before[FAKE_UNITS][NUM_SAME];

static struct pcpu *open_units(u32 num, bool translating)
{
	u32 i;

	fake_vtd_prepare(translating);
	fake_vtd_more(num);
	CHECK(iommu_fits(me()));
	CHECK_EQ(iommu_tables(me()), 0);
	for (fake_vtd_nr = 0; fake_vtd_nr < num; fake_vtd_nr++) {
		for (i = 0; i < NUM_SAME; i++)
			before[fake_vtd_nr][i] = *fake_vtd_reg(same[i]);
		/* entry 7 of this unit's table: a vector of its own */
		memcpy(fake_ram + FAKE_IRT_OF(fake_vtd_nr) + 7 * 16,
		       (u64[]){ 1 | (0x30 + fake_vtd_nr) << 16, 1 << 18 | 0x80 }, 16);
		fake_vtd.accesses = 0;
	}
	fake_vtd_nr = 0;
	return pcpu_of(0);
}

/* The unit is as Linux has left it */
static void check_back(u32 nr)
{
	u32 i;

	fake_vtd_nr = nr;
	for (i = 0; i < NUM_SAME; i++)
		CHECK_EQ(*fake_vtd_reg(same[i]), before[nr][i]);
	CHECK_EQ(fake_vtd.irta & PT_ADDR, FAKE_IRT_OF(fake_vtd_nr));
	CHECK_EQ(front_owner(&me()->nested, FAKE_UNIT_AT(fake_vtd_nr), 1), FRONT_OWNS);
	fake_vtd_nr = 0;
}

static void check_owned(u32 nr)
{
	fake_vtd_nr = nr;
	CHECK_EQ(front_owner(&me()->nested, FAKE_UNIT_AT(fake_vtd_nr), 1), FRONT_HOLE);
	CHECK_EQ(fake_vtd_dma(0x5000), 0x5000);
	CHECK_EQ(fake_vtd_dma(FAKE_BLOCK), 0);
	CHECK_EQ(fake_vtd_dma(FAKE_UNIT_AT(0)), 0);
	CHECK_EQ(fake_vtd_dma(FAKE_UNIT_AT(fake_vtd_nr)), 0);
	CHECK(fake_vtd.irta != FAKE_IRT_OF(fake_vtd_nr));
	CHECK_EQ(fake_vtd_message(7) >> 16 & 0xff, 0x30 + nr);
	CHECK_EQ(fake_vtd_message(8), 0);
	fake_vtd_nr = 0;
}

static void test_each_of_many_units_is_taken_and_given_back(void)
{
	u32 num, nr, alone = 0;

	for (num = 1; num <= FAKE_UNITS; num++) {
		struct pcpu *cpu = open_units(num, false);

		unit_case("%u units", num);
		CHECK_EQ(fake_take(cpu), QV_ME_OK);
		/* a take costs each unit as much as a unit that is alone */
		alone = alone ?: fake_vtds[0].accesses;
		for (nr = 0; nr < num; nr++) {
			CHECK_EQ(fake_vtds[nr].accesses, alone);
			check_owned(nr);
		}
		CHECK(alone && alone < MOST_ACCESSES);
		CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_OK);
		for (nr = 0; nr < num; nr++)
			check_back(nr);
	}
}

static void test_memory_leaves_the_devices_of_all_units(void)
{
	struct pcpu *cpu = open_units(FAKE_UNITS, false);
	const u64 pa = 32ull << 20;
	u32 nr;

	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	for (fake_vtd_nr = 0; fake_vtd_nr < FAKE_UNITS; fake_vtd_nr++)
		CHECK_EQ(fake_vtd_dma(pa), pa);			/* now it is cached */
	fake_vtd_nr = 0;
	iommu_follow(me(), pa, 2ull << 20, false);
	CHECK(iommu_flush(cpu));
	for (fake_vtd_nr = 0; fake_vtd_nr < FAKE_UNITS; fake_vtd_nr++)
		CHECK_EQ(fake_vtd_dma(pa), 0);
	fake_vtd_nr = 0;
	for (nr = 0; nr < FAKE_UNITS; nr++) {		/* a flush needs all units */
		fake_vtds[nr].dead = true;
		me()->boot.tsc_khz = 1;			/* short deadlines */
		CHECK(!iommu_flush(cpu));
		fake_vtds[nr].dead = false;
		me()->boot.tsc_khz = 1u << 20;
		CHECK(iommu_flush(cpu));
	}
}

static void test_if_a_unit_is_dead_linux_keeps_all(void)
{
	u32 dead, nr;

	for (dead = 0; dead < FAKE_UNITS; dead++) {
		struct pcpu *cpu = open_units(FAKE_UNITS, false);

		unit_case("unit %u is dead", dead);
		me()->boot.tsc_khz = 1;
		fake_vtds[dead].dead = true;
		CHECK_EQ(fake_take(cpu), QV_ME_IOMMU);
		CHECK(!me()->iommu.owned);
		for (nr = 0; nr < FAKE_UNITS; nr++)
			check_back(nr);
	}
}

/* ---- AMD-Vi, whose units share a table of devices ---- */

#define DEVICE	0x80u

static struct fake_amdvi_unit left[FAKE_AMDVIS];	/* as Linux leaves them */

static struct pcpu *open_amdvi(u32 num)
{
	struct pcpu *cpu = fake_amdvi_open_many(false, num);

	memcpy(left, fake_amdvis, sizeof(left));
	return cpu;
}

static void check_amdvi_back(u32 nr)
{
	fake_amdvi_nr = nr;
	CHECK(!memcmp(fake_amdvi.regs, left[nr].regs, sizeof(left[nr].regs)));
	CHECK_EQ(fake_amdvi_dma(DEVICE, FAKE_BLOCK), FAKE_BLOCK);
	CHECK_EQ(front_owner(&me()->nested, FAKE_AMDVI_AT(nr), 1), FRONT_OWNS);
	fake_amdvi_nr = 0;
}

/* The address that DMA of the device to @pa reaches behind each unit, or ~0: they differ */
static u64 amdvi_dma(u32 num, u64 pa)
{
	u64 first = fake_amdvi_dma(DEVICE, pa);
	bool alike = true;

	for (fake_amdvi_nr = 1; fake_amdvi_nr < num; fake_amdvi_nr++)
		alike &= fake_amdvi_dma(DEVICE, pa) == first;
	fake_amdvi_nr = 0;
	return alike ? first : ~0ull;
}

static void test_each_of_many_amdvi_units_is_taken_and_given_back(void)
{
	const u64 pa = 100ull << 20;
	u32 num, nr, alone = 0;

	for (num = 1; num <= FAKE_AMDVIS; num++) {
		struct pcpu *cpu = open_amdvi(num);

		unit_case("%u units", num);
		CHECK_EQ(fake_take(cpu), QV_ME_OK);
		alone = alone ?: fake_amdvis[0].accesses;
		CHECK(alone && alone < MOST_ACCESSES);
		for (nr = 0; nr < num; nr++) {
			CHECK_EQ(fake_amdvis[nr].accesses, alone);
			CHECK_EQ(front_owner(&me()->nested, FAKE_AMDVI_AT(nr), 1), FRONT_HOLE);
			CHECK_EQ(amdvi_dma(num, FAKE_AMDVI_AT(nr)), 0);
		}
		CHECK_EQ(amdvi_dma(num, FAKE_BLOCK), 0);
		CHECK_EQ(amdvi_dma(num, pa), pa);
		iommu_follow(me(), pa, QV_HUGE, false);
		CHECK(iommu_flush(cpu));
		CHECK_EQ(amdvi_dma(num, pa), 0);
		CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_OK);
		for (nr = 0; nr < num; nr++)
			check_amdvi_back(nr);
	}
}

static void test_if_an_amdvi_unit_is_dead_linux_keeps_all(void)
{
	u32 dead, nr;

	for (dead = 0; dead < FAKE_AMDVIS; dead++) {
		struct pcpu *cpu = open_amdvi(FAKE_AMDVIS);

		unit_case("unit %u is dead", dead);
		me()->boot.tsc_khz = 1;
		fake_amdvis[dead].dead = true;
		CHECK_EQ(fake_take(cpu), QV_ME_IOMMU);
		CHECK(!me()->iommu.owned);
		for (nr = 0; nr < FAKE_AMDVIS; nr++)
			check_amdvi_back(nr);
	}
}

UNIT_SUITE(iommu_units) = {
	{ "iommu: each of many units is taken and given back",
	  test_each_of_many_units_is_taken_and_given_back },
	{ "iommu: memory leaves the devices of all units",
	  test_memory_leaves_the_devices_of_all_units },
	{ "iommu: if a unit is dead, Linux keeps all units",
	  test_if_a_unit_is_dead_linux_keeps_all },
	{ "iommu: each of many AMD-Vi units is taken and given back",
	  test_each_of_many_amdvi_units_is_taken_and_given_back },
	{ "iommu: if an AMD-Vi unit is dead, Linux keeps all units",
	  test_if_an_amdvi_unit_is_dead_linux_keeps_all },
	{ 0 }
};
