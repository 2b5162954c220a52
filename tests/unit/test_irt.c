// SPDX-License-Identifier: GPL-2.0-only
/* Interrupt remapping under the monitor, with a fake VT-d unit that caches its entries */
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "abi/log.h"
#include "fake_vtd.h"
#include "iommu/iommu.h"
#include "iommu/irte.h"
#include "iommu/vtd.h"
#include "unit.h"

/* Fixed, physical, to CPU @cpu of the fake machine, for the device with the id 0x80 */
#define ENTRY(cpu)	(IRTE_PRESENT | 0x51 << 16 | (u64)(2 * (cpu)) << 32)
#define DEVICE		(0x80 | 1 << 18)

static void linux_entry(u32 index, u64 low, u64 high)
{
	memcpy(fake_ram + FAKE_IRT + index * 16, &low, 8);
	memcpy(fake_ram + FAKE_IRT + index * 16 + 8, &high, 8);
}

/* Linux says by its queue that it has changed 1 << @bits entries from @index on */
static void announce(struct pcpu *cpu, u32 index, u32 bits)
{
	struct iommu_unit *u = &me()->iommu.units[0];
	u32 at = u->linux_tail;

	fake_vtd_put(at, VTD_INTERRUPTS | VTD_SOME | (u64)bits << 27 | (u64)index << 32, 0);
	vtd_write(cpu, u, VTD_IQT, (at + 16) & 0xfff);
}

static void test_interrupts_go_by_the_monitors_table(void)
{
	struct pcpu *cpu = fake_vtd_open(true);

	linux_entry(3, ENTRY(1), DEVICE);
	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	CHECK_EQ(fake_vtd_message(3), ENTRY(1));
	CHECK_EQ(fake_vtd.irtes[3][1], DEVICE);
	linux_entry(3, ENTRY(2), DEVICE);
	fake_vtd.cached[3] = false;
	CHECK_EQ(fake_vtd_message(3), ENTRY(1));	/* not announced: never read */
	announce(cpu, 3, 0);
	CHECK_EQ(fake_vtd_message(3), ENTRY(2));
	linux_entry(4, ENTRY(0), DEVICE);
	linux_entry(5, ENTRY(3), DEVICE);
	CHECK_EQ(fake_vtd_message(5), 0);
	announce(cpu, 5, 1);			/* the pair 4 and 5 */
	CHECK_EQ(fake_vtd_message(4), ENTRY(0));
	CHECK_EQ(fake_vtd_message(5), ENTRY(3));
	linux_entry(3, 0, 0);
	announce(cpu, 3, 0);
	CHECK_EQ(fake_vtd_message(3), 0);
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_OK);
	CHECK_EQ(fake_vtd.irta, FAKE_IRT | VTD_WIDE | 9);
	CHECK_EQ(fake_vtd_message(5), ENTRY(3));
}

static void test_interrupts_reach_cpus_of_linux_only(void)
{
	static const u64 good[] = {
		ENTRY(0), ENTRY(3), ENTRY(0) | 1 << 3, ENTRY(0) | 1 << 4, ENTRY(0) | 1 << 5, 0,
		/* logical: CPUs 0 and 1 have the ids 0 and 2 */
		IRTE_PRESENT | 1 << 2 | 0x20 << 16 | 5ull << 32,
	};
	static const u64 bad[] = {
		ENTRY(4), ENTRY(0) | 1ull << 32, ~0ull << 32 | ENTRY(0), /* no such CPU; all */
		ENTRY(2),						/* the CPU of a cell */
		ENTRY(0) | 2 << 5, ENTRY(0) | 4 << 5, ENTRY(0) | 5 << 5, ENTRY(0) | 7 << 5,
		ENTRY(0) | 1 << 15, ENTRY(0) | 1 << 8, ENTRY(0) | 1 << 24,
		IRTE_PRESENT | 15 << 16, IRTE_PRESENT,
		IRTE_PRESENT | 1 << 2 | 0x20 << 16 | 0x11ull << 32,		/* ids 0 and 4 */
		IRTE_PRESENT | 1 << 2 | 0x20 << 16 | 0x10001ull << 32,		/* id 16 */
		IRTE_PRESENT | 1 << 2 | 0x20 << 16,
	};
	struct pcpu *cpu = fake_vtd_open(true);
	const struct qv_mon_log *log = (const void *)(QV_VA_BLOCK + QV_OFF_LOG);
	u32 denied, i;
	u64 logged;

	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	me()->icr.own_cpus = 0xb;
	for (i = 0; i < sizeof(good) / 8; i++) {
		denied = cpu->status->denied;
		linux_entry(1, good[i], good[i] ? DEVICE : 0);
		announce(cpu, 1, 0);
		CHECK_EQ(fake_vtd_message(1), good[i]);
		CHECK_EQ(cpu->status->denied, denied);
	}
	for (i = 0; i < sizeof(bad) / 8; i++) {
		denied = cpu->status->denied;
		logged = log->head[QV_MON_LOG_OTHER];
		/* absent, and with the bit of the monitor's own refusals: it hides nothing */
		linux_entry(1, i % 2 ? IRTE_REFUSED : ENTRY(0), DEVICE);
		announce(cpu, 1, 0);
		linux_entry(1, bad[i], DEVICE);
		announce(cpu, 1, 0);
		announce(cpu, 1, 0);
		CHECK_EQ(fake_vtd_message(1), 0);
		CHECK_EQ(cpu->status->denied, denied + 2);
		CHECK_EQ(log->head[QV_MON_LOG_OTHER], logged + 1);
	}
	linux_entry(1, ENTRY(0), DEVICE | 1 << 20);
	announce(cpu, 1, 0);
	CHECK_EQ(fake_vtd_message(1), 0);
}

static void test_short_destinations_are_checked_like_an_ioapics(void)
{
	struct pcpu *cpu = fake_vtd_open(true);

	*fake_vtd_reg(VTD_IRTA) &= ~VTD_WIDE;
	linux_entry(1, IRTE_PRESENT | 0x51 << 16 | 2ull << 40, DEVICE);
	linux_entry(2, IRTE_PRESENT | 0x51 << 16 | 4ull << 40, DEVICE);
	linux_entry(3, IRTE_PRESENT | 0x51 << 16 | 255ull << 40, DEVICE);
	linux_entry(4, IRTE_PRESENT | 0x51 << 16 | 2ull << 40 | 1ull << 48, DEVICE);
	me()->icr.own_cpus = 0xb;
	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	CHECK_EQ(fake_vtd.irta & VTD_WIDE, 0);
	CHECK_EQ(fake_vtd_message(1), IRTE_PRESENT | 0x51 << 16 | 2ull << 40);
	CHECK_EQ(fake_vtd_message(2), 0);
	CHECK_EQ(fake_vtd_message(3), 0);
	CHECK_EQ(fake_vtd_message(4), 0);
}

static void test_interrupts_of_a_cpu_end_when_linux_loses_it(void)
{
	struct pcpu *cpu = fake_vtd_open(true);

	linux_entry(1, ENTRY(1), DEVICE);
	linux_entry(2, ENTRY(2), DEVICE);
	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	CHECK_EQ(fake_vtd_message(1), ENTRY(1));
	CHECK_EQ(fake_vtd_message(2), ENTRY(2));
	me()->icr.own_cpus = 0xb;
	CHECK(iommu_flush(cpu));
	CHECK_EQ(fake_vtd_message(1), ENTRY(1));
	CHECK_EQ(fake_vtd_message(2), 0);
	me()->icr.own_cpus = 0xf;
	announce(cpu, 2, 0);
	CHECK_EQ(fake_vtd_message(2), ENTRY(2));
}

static void test_announced_entries_may_be_anywhere(void)
{
	struct pcpu *cpu = fake_vtd_open(true);
	u32 denied = cpu->status->denied;

	*fake_vtd_reg(VTD_IRTA) |= 15;
	linux_entry(QV_MON_IRTES, ENTRY(0), DEVICE);
	linux_entry(QV_MON_IRTES + 1, ENTRY(0), DEVICE);
	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	linux_entry(1, ENTRY(0), DEVICE);
	announce(cpu, 0xffff, 31);		/* all, and more */
	CHECK_EQ(fake_vtd_message(1), ENTRY(0));
	/* two are beyond the monitor's table, and each request counts one */
	CHECK_EQ(cpu->status->denied, denied + 1);
	announce(cpu, QV_MON_IRTES, 1);
	CHECK_EQ(cpu->status->denied, denied + 2);
	announce(cpu, QV_MON_IRTES + 1, 0);
	CHECK_EQ(cpu->status->denied, denied + 3);
	linux_entry(QV_MON_IRTES, 0, 0);
	linux_entry(QV_MON_IRTES + 1, 0, 0);
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_OK);
	*fake_vtd_reg(VTD_IRTA) = FAKE_IRT | VTD_WIDE | 11;	/* a table of 4,096 entries */
	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	linux_entry(4096, ENTRY(0), DEVICE);
	announce(cpu, 4096, 0);			/* memory behind the table is no entry */
	CHECK_EQ(cpu->status->denied, denied + 3);
	linux_entry(4096, 0, 0);
}

static void test_interrupts_that_linux_does_not_remap_stay(void)
{
	struct pcpu *cpu = fake_vtd_open(true);

	*fake_vtd_reg(VTD_GSTS) &= ~VTD_IRE;
	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	announce(cpu, 0, 0);
	CHECK_EQ(fake_vtd.irta, FAKE_IRT | VTD_WIDE | 9);
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_OK);
	cpu = fake_vtd_open(true);
	*fake_vtd_reg(VTD_GSTS) |= VTD_CFI;		/* the compatible format passes the table */
	CHECK_EQ(fake_take(cpu), QV_ME_IOMMU);
}

UNIT_SUITE(irt) = {
	{ "irt: interrupts go by the monitor's table",
	  test_interrupts_go_by_the_monitors_table },
	{ "irt: interrupts reach CPUs of Linux only", test_interrupts_reach_cpus_of_linux_only },
	{ "irt: short destinations are checked like an IOAPIC's",
	  test_short_destinations_are_checked_like_an_ioapics },
	{ "irt: interrupts of a CPU end when Linux loses it",
	  test_interrupts_of_a_cpu_end_when_linux_loses_it },
	{ "irt: announced entries may be anywhere", test_announced_entries_may_be_anywhere },
	{ "irt: interrupts that Linux does not remap stay so",
	  test_interrupts_that_linux_does_not_remap_stay },
	{ 0 }
};
