// SPDX-License-Identifier: GPL-2.0-only
/*
 * Level `devices`: Linux translates addresses of its devices. With a fake VT-d unit that caches, in
 * legacy mode and in scalable mode with tables of either stage
 */
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "fake_vtd.h"
#include "cross/iommu_tables.h"
#include "iommu/iommu.h"
#include "iommu/vtd.h"
#include "unit.h"
#include "world.h"

/* Linux's tables of contexts of buses 0 to 3, and the tables of levels 4 to 1 of two domains */
#define CONTEXTS(bus)	(FAKE_ROOT + QV_PAGE * (1 + (bus)))
#define TABLE(domain, level) (FAKE_ROOT + QV_PAGE * (16 + 4 * ((domain) & 3) + (level) - 1))
#define TRANSLATED	2ull		/* levels of the tables of a context: 4 */
/* Scalable mode: a function's directory of tables of PASIDs, and behind it the first table */
#define PASIDS_OF(bdf)	(FAKE_ROOT + QV_PAGE * (64 + 2 * ((bdf) >> 8 << 2 | ((bdf) & 3))))
#define PASID(bdf)	(PASIDS_OF(bdf) + QV_PAGE)
#define PDTS2		(2ull << 9)	/* length of such a directory of Linux */
#define NIC		0x28u		/* 00:05.0, later a cell's */
#define DISK		0x1b0u		/* 01:16.0, in the upper half of its bus */
#define SCREEN		0x210u		/* 02:02.0, which Linux leaves untranslated */
#define LATE		0x300u		/* 03:00.0, on a bus that Linux finds later */
#define IOVA		0xfffff000ull	/* all domains translate this page */
#define PAGE(n)		((32ull << 20) + (n) * QV_PAGE)
#define CELL		(42 * QV_HUGE)
#define ROOM		30u		/* pages for copies of Linux's tables; there are more */

static struct world w;
static u32 tail;

static void put(u64 pa, u64 value)
{
	memcpy(fake_ram + pa, &value, 8);
}

static u64 get(u64 pa)
{
	u64 value;

	memcpy(&value, fake_ram + pa, 8);
	return value;
}

/* Linux maps one page for a domain. It announces this nowhere: the entry was absent */
static void linux_map(u32 domain, u64 pa)
{
	u32 level;

	for (level = 4; level; level--)
		put(TABLE(domain, level) + (IOVA >> (3 + 9 * level) & 0x1ff) * 8,
		    (level == 1 ? pa : TABLE(domain, level - 1)) |
		    (fake_vtd_stage & 1 ? 7 : 3));
}

/* Linux has contexts for the bus of the function; in scalable mode, for its half of the bus */
static void linux_bus(u32 bdf)
{
	put(FAKE_ROOT + (fake_vtd_stage ? 8 * (bdf >> 7) : 16 * (bdf >> 8)),
	    CONTEXTS(bdf >> 8) | 1);
}

/* The same as linux_attach(): types as of a context of legacy mode */
static void linux_attach_pasid(u32 bdf, u32 domain, u32 type)
{
	u64 kind = type == 2 ? 4 : FAKE_NESTED ? 1 : fake_vtd_stage, table = PASID(bdf);

	put(table + 8, domain);
	put(table + 16, kind == 1 ? TABLE(domain, 4) : 0);
	put(table, (kind == 2 ? TABLE(domain, 4) : 0) | kind << 6 | 2 << 2 | 1);
	put(PASIDS_OF(bdf), table | 1);
	put(CONTEXTS(bdf >> 8) + 32 * (bdf & 0x7f),
	    PASIDS_OF(bdf) | PDTS2 | (type == 1 ? 4 : 0) | 1);
}

/* @type: 0 translated by the tables of the domain, 2 not at all */
static void linux_attach(u32 bdf, u32 domain, u32 type)
{
	if (fake_vtd_stage) {
		linux_attach_pasid(bdf, domain, type);
		return;
	}
	put(CONTEXTS(bdf >> 8) + 16 * (bdf & 0xff) + 8, TRANSLATED | (u64)domain << 8);
	put(CONTEXTS(bdf >> 8) + 16 * (bdf & 0xff), (type ? 0 : TABLE(domain, 4)) | type << 2 | 1);
}

static void linux_detach(u32 bdf)
{
	if (fake_vtd_stage)
		put(PASID(bdf), 0);
	else
		put(CONTEXTS(bdf >> 8) + 16 * (bdf & 0xff), 0);
}

/* Linux puts a request into its queue, and waits. Returns how many were refused */
static u32 linux_asks(u64 low, u64 high)
{
	u32 len = fake_vtd_request(), denied;
	struct pcpu *cpu = pcpu_of(0);

	denied = cpu->status->denied;
	fake_vtd_put(tail, low, high);
	fake_vtd_put((tail + len) % (256 * len), VTD_WAIT | VTD_WAIT_STORE | 2ull << 32,
		     FAKE_STATUS);
	tail = (tail + 2 * len) % (256 * len);
	vtd_write(cpu, &me()->iommu.units[0], VTD_IQT, tail);
	return cpu->status->denied - denied;
}

/* Linux has changed entries of functions that were present */
static u32 linux_changes(void)
{
	return linux_asks(fake_vtd_stage ? VTD_PASIDS | 1 << 4 | 7ull << 16 :
					   VTD_CONTEXTS | VTD_GLOBAL, 0);
}

static void open_linux(void)
{
	memset(&w, 0, sizeof(w));
	fake_vtd_prepare(true);
	memset(fake_ram + FAKE_ROOT, 0, 128 * QV_PAGE);
	tail = 5 * fake_vtd_request();
	linux_bus(NIC);
	linux_bus(DISK);
	linux_bus(SCREEN);
	linux_map(1, PAGE(1));
	linux_map(2, PAGE(2));
	linux_attach(NIC, 1, 0);
	linux_attach(DISK, 2, 0);
	linux_attach(SCREEN, 3, 2);
	fake_vtd.root = *fake_vtd_reg(VTD_RTADDR);
	CHECK_EQ(fake_vtd_dma_of(NIC, IOVA), PAGE(1));
	me()->boot.iommus.translated = 1;
	me()->boot.iommus.nested = FAKE_NESTED ? ROOM : 0;
	CHECK_EQ(iommu_tables(me()), 0);
	CHECK_EQ(fake_take(pcpu_of(0)), QV_ME_OK);
}

static void test_devices_keep_the_tables_of_linux(void)
{
	open_linux();
	CHECK((fake_vtd.root & PT_ADDR) != FAKE_ROOT);
	CHECK_EQ(fake_vtd_dma_of(NIC, IOVA), PAGE(1));
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(2));
	CHECK_EQ(fake_vtd_dma_of(NIC, PAGE(1)), 0);
	CHECK_EQ(fake_vtd_dma_of(DISK | 1, IOVA), 0);
	CHECK_EQ(fake_vtd_dma_of(SCREEN, 0x5000), 0x5000);	/* by the monitor's table */
	CHECK_EQ(fake_vtd_dma_of(SCREEN, FAKE_BLOCK), 0);
	CHECK_EQ(call_iommu(pcpu_of(0), QV_IOMMU_GIVE, 0), QV_ME_OK);
	CHECK_EQ(fake_vtd.root & PT_ADDR, FAKE_ROOT);
	CHECK_EQ(fake_vtd_dma_of(NIC, IOVA), PAGE(1));
	CHECK_EQ(fake_take(pcpu_of(0)), QV_ME_OK);
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(2));
	CHECK_EQ(fake_vtd_dma_of(SCREEN, FAKE_BLOCK), 0);
}

/* Until the last step the unit uses Linux's tables, so each request about them must reach it */
static void test_requests_during_the_take_reach_the_unit(void)
{
	struct pcpu *cpu = pcpu_of(0);

	open_linux();
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_OK);
	me()->iommu.units[0].translated = 0;
	me()->iommu.units[0].root = me()->iommu.root;
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_TAKE, 0), QV_ME_BUSY);
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_TAKE, 0), QV_ME_BUSY);
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(2));
	linux_map(2, PAGE(99));
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(2));		/* it is cached */
	CHECK_EQ(linux_asks(fake_vtd_stage & 1 ? VTD_PASID_IOTLB | VTD_BY_DOMAIN | 2 << 16 :
						 VTD_IOTLB | VTD_GLOBAL, 0), 0);
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(99));
	linux_attach(DISK, 1, 0);
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(99));
	CHECK_EQ(linux_changes(), 0);
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(1));
	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), 0);		/* by the monitor's table */
	CHECK_EQ(fake_vtd_dma_of(DISK, 0x5000), 0x5000);
}

static void test_linux_flushes_what_it_unmaps(void)
{
	static const u64 second[][2] = {
		{ VTD_IOTLB | VTD_GLOBAL, 0 },
		{ VTD_IOTLB | VTD_BY_DOMAIN | 2 << 16 | VTD_DRAIN, 0 },
		{ VTD_IOTLB | VTD_BY_PAGE | 2 << 16, IOVA },
		{ VTD_IOTLB | VTD_BY_PAGE | 2 << 16, (IOVA & ~0x1fffffull) | 1 << 6 | 9 },
		/* more pages than a unit knows; an address inside; reserved bits */
		{ VTD_IOTLB | VTD_BY_PAGE | 2 << 16, 63 },
		{ VTD_IOTLB | VTD_BY_PAGE | 2 << 16 | 0xffffffff0000ff00, IOVA | 0xf83 },
	};
	static const u64 first[][2] = {
		{ VTD_IOTLB | VTD_GLOBAL, 0 },
		{ VTD_PASID_IOTLB | VTD_BY_DOMAIN | 2 << 16, 0 },
		{ VTD_PASID_IOTLB | VTD_BY_PAGE | 2 << 16, IOVA },
		{ VTD_PASID_IOTLB | VTD_BY_PAGE | 2 << 16,
		  (IOVA & ~0x1fffffull) | 1 << 6 | 9 },
		{ VTD_PASID_IOTLB | VTD_BY_PAGE | 2 << 16, 63 },
		{ VTD_PASID_IOTLB | VTD_BY_PAGE | 2 << 16 | 0xfff000000000f1c0, IOVA | 0xf83 },
	};
	const u64 (*requests)[2] = fake_vtd_stage & 1 ? first : second;
	u32 i;

	open_linux();
	for (i = 0; i < sizeof(second) / sizeof(*second); i++) {
		unit_case("stage %u, request %u", fake_vtd_stage, i);
		linux_map(2, PAGE(i));
		CHECK_EQ(linux_asks(VTD_IOTLB | VTD_GLOBAL, 0), 0);
		CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(i));
		linux_map(2, PAGE(99));
		CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(i));
		CHECK_EQ(linux_asks(requests[i][0], requests[i][1]), 0);
		CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(99));
	}
	/* The unit would stop: no granularity, or a request of another mode */
	CHECK_EQ(linux_asks(VTD_IOTLB, 0), 1);
	CHECK_EQ(linux_asks(VTD_PASID_IOTLB | 1 << 4, 0), 1);
	CHECK_EQ(linux_asks(VTD_PASID_IOTLB | VTD_BY_DOMAIN, 0), !fake_vtd_stage);
	CHECK_EQ(linux_asks(VTD_PASIDS | VTD_ALL_PASIDS, 0), !fake_vtd_stage);
	CHECK_EQ(linux_asks(VTD_PASID_DEVICE_TLB, 0), !fake_vtd_stage);
	CHECK_EQ(linux_asks(VTD_PASID_DEVICE_TLB + 1, 0), 1);	/* an answer to a page request */
	for (i = 0; i < 300; i++)			/* the ring of both goes round */
		CHECK_EQ(linux_asks(requests[i % 4][0], requests[i % 4][1]), 0);
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(99));
	CHECK_EQ(call_iommu(pcpu_of(0), QV_IOMMU_GIVE, 0), QV_ME_OK);
	CHECK_EQ(*fake_vtd_reg(VTD_IQT), tail);
}

static void test_devices_that_come_and_go_are_followed(void)
{
	open_linux();
	CHECK_EQ(fake_vtd_dma_of(DISK | 1, IOVA), 0);
	linux_attach(DISK | 1, 1, 0);		/* an entry that was absent: no request follows */
	if (FAKE_NESTED)			/* as on all buses with a copy, see below */
		CHECK_EQ(linux_asks(VTD_INTERRUPTS | VTD_SOME, 0), 0);
	CHECK_EQ(fake_vtd_dma_of(DISK | 1, IOVA), PAGE(1));
	linux_attach(SCREEN | 1, 1, 0);		/* on a bus with a copy: with its interrupts */
	CHECK_EQ(linux_asks(VTD_IOTLB | VTD_BY_DOMAIN | 7 << 16, 0), 0);
	CHECK_EQ(fake_vtd_dma_of(SCREEN | 1, IOVA), 0);
	CHECK_EQ(linux_asks(VTD_INTERRUPTS | VTD_SOME, 0), 0);
	CHECK_EQ(fake_vtd_dma_of(SCREEN | 1, IOVA), PAGE(1));
	linux_attach(LATE, 2, 0);
	linux_bus(LATE);
	CHECK_EQ(call_iommu(pcpu_of(0), QV_IOMMU_LOOK, 0), QV_ME_OK);
	CHECK_EQ(fake_vtd_dma_of(LATE, IOVA), PAGE(2));
	linux_detach(DISK);
	linux_detach(SCREEN | 1);
	CHECK_EQ(linux_changes(), 0);
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), 0);
	CHECK_EQ(fake_vtd_dma_of(SCREEN | 1, IOVA), 0);
	CHECK_EQ(fake_vtd_dma_of(SCREEN, 0x5000), 0x5000);
}

static struct qv_mon_create *request(void)
{
	static struct qv_mon_create q;

	memset(&q, 0, sizeof(q));
	q.block_pa = CELL + 5 * QV_HUGE;
	q.console_pa = CELL + 6 * QV_HUGE;
	q.num_cpus = q.num_runs = q.num_devices = 1;
	q.bell_rate = 10;
	q.cpus[0] = 2;
	q.runs[0] = (struct qv_mon_run){ CELL, 4 };
	q.entry.eip = 0x100000;
	q.devices[0] = (struct qv_mon_device){ .bdf = NIC, .flags = QV_MON_DEVICE_MASTER,
					       .ioapic = QV_MON_NO_PIN };
	return &q;
}

static void make_function(void)
{
	static const u32 words[] = { 0x11e81234, 0, 0x00ff0010 };
	u32 i;

	for (i = 0; i < 64; i++)
		device_write(pcpu_of(0), FAKE_ECAM + (NIC << 12) + 4 * i, i < 3 ? words[i] : 0);
}

static void test_device_of_a_cell_is_taken_from_linuxs_tables(void)
{
	u64 result;
	u32 round;

	open_linux();
	make_function();
	for (round = 0; round < 2; round++) {
		CHECK_EQ(fake_vtd_dma_of(NIC, IOVA), PAGE(1));
		CHECK_EQ(world_create(&w, request()), 1);
		CHECK_EQ(fake_vtd_dma_of(NIC, IOVA), PAGE(1));
		CHECK_EQ(world_start(&w, 1), 0);
		CHECK_EQ(fake_vtd_dma_of(NIC, 0x5000), CELL + 0x5000);
		CHECK_EQ(fake_vtd_dma_of(NIC, IOVA), 0);
		/* no change of Linux reaches it, and its neighbour is followed */
		linux_detach(NIC);
		linux_attach(NIC, 2, 0);
		linux_attach(NIC | 1, 2, 0);
		CHECK_EQ(linux_changes(), 0);
		CHECK_EQ(linux_asks(VTD_IOTLB | VTD_GLOBAL, 0), 0);
		CHECK_EQ(fake_vtd_dma_of(NIC, 0x5000), CELL + 0x5000);
		CHECK_EQ(fake_vtd_dma_of(NIC, IOVA), 0);
		CHECK_EQ(fake_vtd_dma_of(NIC | 1, IOVA), PAGE(2));
		CHECK_EQ(fake_vtd_dma_of(SCREEN, CELL), 0);
		linux_attach(NIC, 1, 0);
		CHECK_EQ(world_stop(&w, 1), 0);
		CHECK_EQ(fake_vtd_dma_of(NIC, 0x5000), 0);
		CHECK_EQ(linux_changes(), 0);
		CHECK_EQ(fake_vtd_dma_of(NIC, IOVA), 0);
		while ((result = world_reclaim(&w, 1)) == 1)
			;
		CHECK_EQ(result, 0);
		CHECK_EQ(fake_vtd_dma_of(NIC, IOVA), PAGE(1));
	}
	CHECK_EQ(call_iommu(pcpu_of(0), QV_IOMMU_GIVE, 0), QV_ME_OK);
	CHECK_EQ(fake_vtd_dma_of(NIC, IOVA), PAGE(1));
}

static void test_tables_that_linux_lacks_are_absent(void)
{
	u64 contexts[2], unit;
	u32 ranges;

	open_linux();
	linux_map(FAKE_DOMAIN, PAGE(3));
	linux_attach(SCREEN | 1, FAKE_DOMAIN + 1, 0);	/* the number of a cell's table */
	linux_attach(SCREEN | 2, FAKE_DOMAIN, 0);	/* of the monitor's table */
	/* translations of its own: in scalable mode, those by the table of the domain are left */
	linux_attach(SCREEN | 3, 1, 1);
	CHECK_EQ(linux_changes(), 0);
	CHECK_EQ(fake_vtd_dma_of(SCREEN | 1, IOVA), 0);
	CHECK_EQ(fake_vtd_dma_of(SCREEN | 2, IOVA), 0);
	CHECK_EQ(fake_vtd_dma_of(SCREEN | 3, IOVA), fake_vtd_stage ? PAGE(1) : 0);
	/* a table in the monitor's memory, which the monitor would then write */
	unit = me()->iommu.units[0].root;
	memcpy(contexts, fake_ram + unit, 16);	/* of bus 0; behind them those of bus 2 */
	put(FAKE_ROOT, unit | 1);
	put(FAKE_ROOT + 32, me()->iommu.units[0].queue | 1);
	CHECK_EQ(linux_changes(), 0);
	CHECK_EQ(get(unit), FAKE_NESTED ? contexts[0] : 0);	/* a copy stays, without entries */
	CHECK_EQ(fake_vtd_dma_of(NIC, IOVA), 0);
	CHECK(get(unit + 32) != (me()->iommu.units[0].queue | 1));
	CHECK_EQ(fake_vtd_dma_of(SCREEN, 0x5000), 0);
	put(FAKE_ROOT, CONTEXTS(0) | 1);
	CHECK_EQ(linux_changes(), 0);
	CHECK_EQ(get(unit), contexts[0]);
	/* tables in the registers of a device */
	ranges = me()->boot.num_ram;
	me()->boot.num_ram = 0;
	contexts_follow(pcpu_of(0), &me()->iommu.units[0]);
	me()->boot.num_ram = ranges;
	CHECK_EQ(FAKE_NESTED ? get((contexts[0] & PT_ADDR) + 32 * (NIC & 0x7f)) : get(unit), 0);
}

static void test_linux_that_translates_no_longer_is_not_taken(void)
{
	open_linux();
	CHECK_EQ(call_iommu(pcpu_of(0), QV_IOMMU_GIVE, 0), QV_ME_OK);
	*fake_vtd_reg(VTD_GSTS) &= ~VTD_TE;
	CHECK_EQ(fake_take(pcpu_of(0)), QV_ME_IOMMU);
	*fake_vtd_reg(VTD_GSTS) |= VTD_TE;
	me()->pt_pool.next = me()->pt_pool.end;
	linux_attach(DISK | 1, 3, 2);			/* it is untranslated now */
	if (FAKE_NESTED)				/* or there is another bus */
		linux_bus(LATE);
	CHECK_EQ(fake_take(pcpu_of(0)), QV_ME_IOMMU);
	CHECK_EQ(fake_vtd.root & PT_ADDR, FAKE_ROOT);
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(2));
}

/* ---- units nest Linux's tables in the monitor's table (level `full`) ---- */

static void open_nested(void)
{
	fake_vtd_stage = 3;
	open_linux();
}

static void test_nested_tables_lead_to_no_hole(void)
{
	static const u64 holes[] = { FAKE_BLOCK, FAKE_BLOCK + QV_OFF_INSTANCE, FAKE_UNIT, 0xa0000,
				     0xfee00000, 1ull << 46, PT_ADDR & ~(QV_PAGE - 1ull) };
	struct pcpu *cpu = pcpu_of(0);
	u64 before, unit;
	u32 i, level;

	open_nested();
	for (i = 0; i < sizeof(holes) / 8; i++) {
		unit_case("hole %#llx", (unsigned long long)holes[i]);
		linux_map(2, holes[i]);
		CHECK_EQ(linux_asks(VTD_IOTLB | VTD_GLOBAL, 0), 0);
		CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), 0);
	}
	/* a table of Linux in the monitor's memory, at each level: the unit would write there */
	unit = me()->iommu.units[0].queue;
	before = get(unit);
	for (level = 4; level > 1; level--) {
		linux_map(2, PAGE(2));
		put(TABLE(2, level) + (IOVA >> (3 + 9 * level) & 0x1ff) * 8, unit | 7);
		CHECK_EQ(linux_asks(VTD_IOTLB | VTD_GLOBAL, 0), 0);
		CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), 0);
	}
	linux_map(2, PAGE(2));
	for (i = 0; i < sizeof(holes) / 8; i++) {	/* the first one there, or beyond RAM */
		put(PASID(DISK) + 16, holes[i]);
		CHECK_EQ(linux_changes(), 0);
		CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), 0);
	}
	put(PASID(DISK) + 16, TABLE(2, 4));
	CHECK_EQ(linux_changes(), 0);
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(2));
	/* memory that Linux loses, and whose translation is cached */
	iommu_follow(me(), PAGE(2), QV_PAGE, false);
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(2));
	CHECK(iommu_flush(cpu));
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), 0);
	CHECK_EQ(fake_vtd_dma_of(NIC, IOVA), 0);	/* of the same 2 MiB */
	CHECK_EQ(get(unit), before);
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_OK);
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(2));	/* by Linux's tables alone */
	fake_vtd_stage = 0;
}

#define LEVEL5	(FAKE_ROOT + QV_PAGE * 120)	/* a table above those of the domain */

/* Other values of Linux's entry of PASID 0 */
static void test_entries_that_cannot_be_nested_reach_nothing(void)
{
	static const struct { u64 low, high, third; bool works; } tries[] = {
		{ 1 << 6 | 1, 2, 0, true },
		/* kinds: the second stage, Linux nests itself, reserved; or absent */
		{ 2 << 6 | 1, 2, 0, false }, { 3 << 6 | 1, 2, 0, false },
		{ 0 << 6 | 1, 2, 0, false }, { 5 << 6 | 1, 2, 0, false }, { 1 << 6, 2, 0, false },
		/* numbers of the monitor and of a cell */
		{ 1 << 6 | 1, FAKE_DOMAIN, 0, false }, { 1 << 6 | 1, FAKE_DOMAIN + 1, 0, false },
		{ 1 << 6 | 1, 0xffff, 0, false },
		/* a table of the second stage, its levels, dirty bits; reserved bits, types */
		{ FAKE_BLOCK | 1 << 9 | 1 << 6 | 3 << 2 | 1, 2, 0, true },
		{ 1 << 6 | 1 | 1 << 5, 2 | 0xffffffffffff0000, 0, true },
		/* five levels: the unit knows them */
		{ 1 << 6 | 1, 2, (LEVEL5 - TABLE(2, 4)) | 1 << 2, true },
		/* supervisors (SRE), write protection (WPE), accessed bits (EAFE): not this unit */
		{ 1 << 6 | 1, 2, 1, false }, { 1 << 6 | 1, 2, 1 << 4, false },
		{ 1 << 6 | 1, 2, 1 << 7, false },
	};
	u64 entry = PASID(DISK), context;
	u32 i;

	open_nested();
	put(LEVEL5, TABLE(2, 4) | 7);
	context = (get(me()->iommu.units[0].root + 8 * (DISK >> 7)) & PT_ADDR) + 32 * (DISK & 0x7f);
	for (i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		unit_case("entry %u", i);
		put(entry + 16, TABLE(2, 4) + tries[i].third);
		put(entry + 8, tries[i].high);
		put(entry, tries[i].low);
		CHECK_EQ(linux_changes(), 0);
		CHECK_EQ(linux_asks(VTD_PASID_IOTLB | VTD_BY_DOMAIN | 2 << 16, 0), 0);
		CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), tries[i].works ? PAGE(2) : 0);
		CHECK_EQ(fake_vtd_dma_of(DISK, FAKE_BLOCK), 0);
		CHECK(!get(context) || (get(context) & PT_ADDR) == me()->iommu.pasids);
	}
	fake_vtd_stage = 0;
}

/* The unit reads no table of PASIDs of Linux: a change is nothing until it is followed */
static void test_tables_of_pasids_are_the_monitors(void)
{
	u64 other = FAKE_ROOT + QV_PAGE * 121;

	open_nested();
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(2));
	/* a present entry of Linux that it changes without a request, by which nothing is nested */
	put(PASID(DISK), 4 << 6 | 2 << 2 | 1);
	memset(fake_vtd.context, 0, sizeof(fake_vtd.context));
	memset(fake_vtd.pasid, 0, sizeof(fake_vtd.pasid));
	memset(fake_vtd.tags, 0, sizeof(fake_vtd.tags));
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(2));
	CHECK_EQ(fake_vtd_dma_of(DISK, FAKE_BLOCK), 0);
	CHECK_EQ(call_iommu(pcpu_of(0), QV_IOMMU_LOOK, 0), QV_ME_OK);
	CHECK(iommu_flush(pcpu_of(0)));
	CHECK_EQ(fake_vtd_dma_of(DISK, 0x5000), 0x5000);	/* untranslated by Linux */
	CHECK_EQ(fake_vtd_dma_of(DISK, FAKE_BLOCK), 0);
	/* another table, another directory, a directory that Linux lacks */
	put(other, 1);
	put(PASIDS_OF(DISK), other | 1);
	CHECK_EQ(linux_changes(), 0);
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), 0);
	put(CONTEXTS(DISK >> 8) + 32 * (DISK & 0x7f), PASIDS_OF(NIC) | 1);
	CHECK_EQ(linux_changes(), 0);
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(1));
	put(CONTEXTS(DISK >> 8) + 32 * (DISK & 0x7f), me()->iommu.pasids | 1);
	CHECK_EQ(linux_changes(), 0);
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), 0);
	/* entries of other PASIDs are not there for the unit, nor may a device name one */
	put(CONTEXTS(DISK >> 8) + 32 * (DISK & 0x7f), PASIDS_OF(NIC) | 3 << 3 | 1);
	put(CONTEXTS(DISK >> 8) + 32 * (DISK & 0x7f) + 8, NIC);
	CHECK_EQ(linux_changes(), 0);
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(1));		/* the fake unit checks bits */
	fake_vtd_stage = 0;
}

static void test_late_devices_without_room_reach_nothing(void)
{
	u64 end;

	open_nested();
	end = me()->pt_pool.end;
	me()->pt_pool.end = me()->pt_pool.next;
	linux_attach(LATE, 2, 0);
	linux_bus(LATE);
	linux_attach(DISK | 1, 2, 0);		/* of a table of PASIDs that there is */
	CHECK_EQ(linux_changes(), 0);
	CHECK_EQ(fake_vtd_dma_of(LATE, IOVA), 0);
	CHECK_EQ(fake_vtd_dma_of(DISK | 1, IOVA), PAGE(2));
	CHECK_EQ(fake_vtd_dma_of(NIC, IOVA), PAGE(1));
	me()->pt_pool.end = end;
	CHECK_EQ(linux_changes(), 0);
	CHECK_EQ(fake_vtd_dma_of(LATE, IOVA), PAGE(2));
	CHECK_EQ(call_iommu(pcpu_of(0), QV_IOMMU_GIVE, 0), QV_ME_OK);
	CHECK_EQ(fake_vtd.root & PT_ADDR, FAKE_ROOT);
	CHECK_EQ(fake_vtd_dma_of(LATE, IOVA), PAGE(2));
	fake_vtd_stage = 0;
}

IN_EACH_MODE(test_devices_keep_the_tables_of_linux)
IN_EACH_MODE(test_linux_flushes_what_it_unmaps)
IN_EACH_MODE(test_requests_during_the_take_reach_the_unit)
IN_EACH_MODE(test_devices_that_come_and_go_are_followed)
IN_EACH_MODE(test_device_of_a_cell_is_taken_from_linuxs_tables)
IN_EACH_MODE(test_tables_that_linux_lacks_are_absent)
IN_EACH_MODE(test_linux_that_translates_no_longer_is_not_taken)

UNIT_SUITE(iommu_contexts) = {
	{ "iommu: nested tables of Linux lead to no hole", test_nested_tables_lead_to_no_hole },
	{ "iommu: entries that cannot be nested reach nothing",
	  test_entries_that_cannot_be_nested_reach_nothing },
	{ "iommu: tables of PASIDs are the monitor's where units nest",
	  test_tables_of_pasids_are_the_monitors },
	{ "iommu: late devices without room for nested tables reach nothing",
	  test_late_devices_without_room_reach_nothing },
	{ "iommu: devices keep Linux's tables, except those that it leaves untranslated",
	  test_devices_keep_the_tables_of_linux_in_each_mode },
	{ "iommu: Linux flushes what it unmaps", test_linux_flushes_what_it_unmaps_in_each_mode },
	{ "iommu: requests during the take reach the unit",
	  test_requests_during_the_take_reach_the_unit_in_each_mode },
	{ "iommu: devices that come and go are followed",
	  test_devices_that_come_and_go_are_followed_in_each_mode },
	{ "iommu: a device of a cell is taken from Linux's tables",
	  test_device_of_a_cell_is_taken_from_linuxs_tables_in_each_mode },
	{ "iommu: tables that Linux lacks are absent",
	  test_tables_that_linux_lacks_are_absent_in_each_mode },
	{ "iommu: a unit whose Linux translates no longer stays with Linux",
	  test_linux_that_translates_no_longer_is_not_taken_in_each_mode },
	{ 0 }
};
