// SPDX-License-Identifier: GPL-2.0-only
/* The take of the IOMMU in steps: none is long, and Linux changes its tables between two of them */
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "fake_amdvi.h"
#include "fake_vtd.h"
#include "cross/iommu_tables.h"
#include "iommu/amdvi.h"
#include "iommu/iommu.h"
#include "iommu/irte.h"
#include "iommu/vtd.h"
#include "steps.h"
#include "unit.h"

/* An interrupt to CPU @cpu of the fake machine */
#define ENTRY(cpu)	(IRTE_PRESENT | 0x51 << 16 | (u64)(2 * (cpu)) << 32)
#define AMD_ENTRY(cpu)	(IRTE_PRESENT | (u64)(2 * (cpu)) << 8)
#define DEVICE		0x80u
#define NESTED_BUSES	32u		/* halves of buses with functions, for each unit */
#define CONTEXTS	(13ull << 20)	/* of Linux: a table that all buses share */
#define DIRECTORY	(14ull << 20)	/* of Linux: of all functions; behind it the table */

static struct {
	u64 blocks, longest;	/* basic blocks: at the begin of a call, of the longest call */
	u32 calls, at;		/* number of calls; Linux acts before this one */
	u32 tail;		/* of Linux's queue */
} w;

static void put(u64 at, u64 low, u64 high)
{
	memcpy(fake_ram + at, &low, 8);
	memcpy(fake_ram + at + 8, &high, 8);
}

/* ---- how long a step lasts ---- */

static void count(void)
{
	u64 last = steps_blocks - w.blocks;

	w.longest = w.blocks && last > w.longest ? last : w.longest;
	w.blocks = steps_blocks;
}

/* Returns the basic blocks of the longest call of a take of @num units, and of the give */
static u64 longest(struct pcpu *cpu, u32 num)
{
	memset(&w, 0, sizeof(w));
	fake_between = count;
	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	count();
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_OK);
	count();
	fake_between = NULL;
	CHECK(w.longest > 100);
	/*
	 * 100 us, and 20 us for each unit, at one instruction in a ns and six in a block. Blocks
	 * of the sanitizers count, too: a call of 7,300 blocks here has 40,400 instructions in QEMU
	 */
	CHECK(w.longest < (100 + 20 * num) * 1000 / 6);
	return w.longest;
}

/*
 * All entries of Linux's table of interrupts are in use, and all functions of all buses; where
 * units nest, of as many as there is room for
 */
static struct pcpu *fill_vtd(u32 num)
{
	u32 i, words = fake_vtd_stage ? 4 : 2, buses = FAKE_NESTED ? NESTED_BUSES : PT_ENTRIES;

	fake_vtd_prepare(true);
	fake_vtd_more(num);
	me()->boot.iommus.translated = (1u << num) - 1;
	for (i = 0; i < num * 65536; i += 16)
		put(FAKE_IRT_OF(0) + i, ENTRY(i % 3), DEVICE | 1 << 18);
	me()->boot.iommus.nested = FAKE_NESTED;
	memset(fake_ram + FAKE_ROOT, 0, QV_PAGE);
	for (i = 0; i < buses; i += 4 / words)
		memcpy(fake_ram + FAKE_ROOT + 8 * i, (u64[]){ CONTEXTS | CONTEXT_PRESENT }, 8);
	for (i = 0; i < PT_ENTRIES; i += words)
		put(CONTEXTS + 8 * i, DIRECTORY | CONTEXT_PRESENT, 5 << 8 | CONTEXT_LEVELS4);
	put(DIRECTORY, (DIRECTORY + QV_PAGE) | CONTEXT_PRESENT, 0);
	put(DIRECTORY + QV_PAGE, PASID_STAGE(FAKE_NESTED ? 1 : 2), 5);
	put(DIRECTORY + QV_PAGE + 16, CONTEXTS, 0);
	CHECK_EQ(iommu_tables(me()), 0);
	return pcpu_of(0);
}

/* Returns the basic blocks of a write of the tail behind @num requests about contexts */
static u64 requests(u32 num)
{
	struct pcpu *cpu = fill_vtd(1);
	u32 i;

	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	w.tail = 5 * fake_vtd_request();
	for (i = 0; i < num; i++, w.tail += fake_vtd_request())
		fake_vtd_put(w.tail, VTD_CONTEXTS | VTD_GLOBAL, 0);
	w.blocks = steps_blocks;
	vtd_write(cpu, &me()->iommu.units[0], VTD_IQT, w.tail);
	CHECK_EQ(cpu->status->denied, 0);
	return steps_blocks - w.blocks;
}

/* The first request looks at all of Linux's contexts, the others at none */
static void test_many_requests_of_a_write_follow_contexts_once(void)
{
	for (fake_vtd_stage = 0; fake_vtd_stage < 4; fake_vtd_stage++) {
		unit_case("stage %u", fake_vtd_stage);
		CHECK(requests(101) - requests(1) < 100 * 500);
	}
	fake_vtd_stage = 0;
}

/* All entries of the device's table are in use */
static u64 longest_amdvi(u32 num)
{
	struct pcpu *cpu = fake_amdvi_open_many(true, num);
	u32 i;

	for (i = 0; i < QV_MON_DEVICE_IRTES; i++)
		put(FAKE_AMDVI_IRT + 16 * i, AMD_ENTRY(i % 3), 0x51);
	return longest(cpu, num);
}

static void test_no_call_of_a_take_is_long(void)
{
	u64 one, many;

	for (fake_vtd_stage = 0; fake_vtd_stage < 4; fake_vtd_stage++) {
		unit_case("stage %u", fake_vtd_stage);
		one = longest(fill_vtd(1), 1);
		many = longest(fill_vtd(4), 4);
		/* the last step of a unit and the first of the next one are one call */
		CHECK(many < 2 * one);
	}
	fake_vtd_stage = 0;
	unit_case("AMD-Vi");
	one = longest_amdvi(1);
	many = longest_amdvi(4);
	CHECK(many < 2 * one);
}

/* ---- Linux acts between two steps ---- */

/* As iommu_access(): before the first step, Linux's write reaches the unit */
static void vtd_tail(void)
{
	struct iommu_unit *u = &me()->iommu.units[0];

	(u->step ? vtd_write : unit_set)(pcpu_of(0), u, VTD_IQT, w.tail);
}

static void ask(u64 low, u64 high)
{
	fake_vtd_put(w.tail, low, high);
	if (!me()->iommu.units[0].step && fake_vtd_stage)	/* the unit itself reads it */
		put(FAKE_RING + w.tail + 16, 0, 0);
	w.tail += fake_vtd_request();
	vtd_tail();
}

static void change_vtd(void)
{
	if (w.calls++ != w.at)
		return;
	CHECK_EQ(fake_vtd_message(3), ENTRY(1));	/* now it is cached */
	put(FAKE_IRT + 3 * 16, ENTRY(3), DEVICE | 1 << 18);
	put(FAKE_IRT + 9 * 16, ENTRY(4), DEVICE | 1 << 18);	/* no CPU of Linux */
	ask(VTD_INTERRUPTS, 0);
	CHECK_EQ(fake_vtd_message(3), ENTRY(3));
	ask(VTD_WAIT | VTD_WAIT_STORE | (u64)(w.at + 77) << 32, FAKE_STATUS);
	CHECK_EQ((u32)fake_word(FAKE_STATUS), w.at + 77);
}

static void test_linux_changes_interrupts_during_the_take(void)
{
	u32 at = 0, calls;

	do {
		struct pcpu *cpu = fake_vtd_open(true);

		unit_case("call %u", at);
		w.at = at;
		w.calls = 0;
		w.tail = 5 * fake_vtd_request();
		put(FAKE_IRT + 3 * 16, ENTRY(1), DEVICE | 1 << 18);
		fake_between = change_vtd;
		CHECK_EQ(fake_take(cpu), QV_ME_OK);
		fake_between = NULL;
		calls = w.calls;
		CHECK_EQ(fake_vtd_message(3), ENTRY(3));
		CHECK_EQ(fake_vtd_message(9), 0);
		CHECK(fake_vtd.irta != (FAKE_IRT | VTD_WIDE | 9));
	} while (++at < calls);
	CHECK(calls > 30);
}

static void lose_cpu(void)
{
	if (w.calls++ != w.at)
		return;
	me()->icr.own_cpus = 0xd;
	CHECK(iommu_flush(pcpu_of(0)));
}

static void test_no_interrupt_reaches_a_cpu_that_linux_loses_during_the_take(void)
{
	u32 at = 0, calls;

	do {
		struct pcpu *cpu = fake_vtd_open(true);

		w.at = at;
		w.calls = 0;
		put(FAKE_IRT + 3 * 16, ENTRY(1), DEVICE | 1 << 18);
		put(FAKE_IRT + 4 * 16, ENTRY(3), DEVICE | 1 << 18);
		fake_between = lose_cpu;
		CHECK_EQ(fake_take(cpu), QV_ME_OK);
		fake_between = NULL;
		calls = w.calls;
		CHECK_EQ(fake_vtd_message(3), 0);
		CHECK_EQ(fake_vtd_message(4), ENTRY(3));
		me()->icr.own_cpus = 0xf;
	} while (++at < calls);
}

static void change_amdvi(void)
{
	const u64 request[2] = { AMDVI_REQUEST(AMDVI_INTERRUPTS) | DEVICE };
	struct iommu_unit *u = &me()->iommu.units[0];

	if (w.calls++ != w.at || !u->step)
		return;
	CHECK_EQ(fake_amdvi_message(DEVICE, 3) >> 8, 2);
	put(FAKE_AMDVI_IRT + 3 * 16, AMD_ENTRY(3), 0x51);
	fake_amdvi_request(pcpu_of(0), request[0], request[1]);
	CHECK_EQ(fake_amdvi_message(DEVICE, 3) >> 8, 6);
	w.calls += 100;
}

static void test_linux_changes_interrupts_during_the_take_of_amdvi(void)
{
	for (w.at = 1; w.at < 2 + AMDVI_PIECES; w.at++) {
		struct pcpu *cpu = fake_amdvi_open(false);

		unit_case("call %u", w.at);
		w.calls = 0;
		put(FAKE_AMDVI_IRT + 3 * 16, AMD_ENTRY(1), 0x51);
		put(FAKE_AMDVI_IRT + (QV_MON_DEVICE_IRTES - 1) * 16, AMD_ENTRY(2), 0x52);
		fake_between = change_amdvi;
		CHECK_EQ(fake_take(cpu), QV_ME_OK);
		fake_between = NULL;
		CHECK(w.calls > 100);
		CHECK_EQ(fake_amdvi_message(DEVICE, 3) >> 8, 6);
		CHECK_EQ(fake_amdvi_message(DEVICE, QV_MON_DEVICE_IRTES - 1), 4 << 8 | 0x52);
		CHECK_EQ(fake_amdvi_dma(DEVICE, FAKE_BLOCK), 0);
	}
}

/* ---- the take ends between two steps ---- */

static void die(void)
{
	if (w.calls++ == w.at)
		fake_vtd.dead = true;
}

static void test_unit_that_dies_during_the_take_is_reported(void)
{
	u32 at = 1, calls;

	do {
		struct pcpu *cpu = fake_vtd_open(true);

		me()->boot.tsc_khz = 1;			/* short deadlines */
		w.at = at;
		w.calls = 0;
		fake_between = die;
		CHECK_EQ(fake_take(cpu), QV_ME_IOMMU);
		fake_between = NULL;
		calls = w.calls;
		CHECK(!me()->iommu.owned && me()->iommu.lost);
	} while (++at < calls);
}

static void test_take_can_be_given_up_after_each_step(void)
{
	u32 steps = 0, i;
	u64 result;

	do {
		struct pcpu *cpu = fake_vtd_open(true);

		put(FAKE_IRT + 3 * 16, ENTRY(1), DEVICE | 1 << 18);
		steps++;
		for (i = result = 0; i < steps; i++)
			result = call_iommu(cpu, QV_IOMMU_TAKE, 0);
		CHECK_EQ(me()->iommu.owned, result == QV_ME_OK);
		CHECK_EQ(call_iommu(cpu, QV_IOMMU_LOOK, 0), result ? QV_ME_STATE : QV_ME_OK);
		CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_OK);
		CHECK_EQ(*fake_vtd_reg(VTD_IQA) & PT_ADDR, FAKE_RING);
		CHECK_EQ(*fake_vtd_reg(VTD_IQT), 5 * fake_vtd_request());
		CHECK_EQ(*fake_vtd_reg(VTD_FECTL), 0);
		CHECK_EQ(fake_vtd.irta, FAKE_IRT | VTD_WIDE | 9);
		CHECK_EQ(fake_vtd_message(3), ENTRY(1));
	} while (result == QV_ME_BUSY);
	CHECK_EQ(result, QV_ME_OK);
}

IN_EACH_MODE(test_linux_changes_interrupts_during_the_take)
IN_EACH_MODE(test_take_can_be_given_up_after_each_step)

UNIT_SUITE(iommu_steps) = {
	{ "iommu: no call of a take is long", test_no_call_of_a_take_is_long },
	{ "iommu: many requests of a write follow contexts once",
	  test_many_requests_of_a_write_follow_contexts_once },
	{ "iommu: Linux changes interrupts during the take",
	  test_linux_changes_interrupts_during_the_take_in_each_mode },
	{ "iommu: no interrupt reaches a CPU that Linux loses during the take",
	  test_no_interrupt_reaches_a_cpu_that_linux_loses_during_the_take },
	{ "iommu: Linux changes interrupts during the take of AMD-Vi",
	  test_linux_changes_interrupts_during_the_take_of_amdvi },
	{ "iommu: a unit that dies during the take is reported",
	  test_unit_that_dies_during_the_take_is_reported },
	{ "iommu: a take can be given up after each step",
	  test_take_can_be_given_up_after_each_step_in_each_mode },
	{ 0 }
};
