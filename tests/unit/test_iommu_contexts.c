// SPDX-License-Identifier: GPL-2.0-only
/* Level `devices`: Linux translates addresses of its devices. With a fake VT-d unit that caches */
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
#define TABLE(domain, level) (FAKE_ROOT + QV_PAGE * (16 + 4 * (domain) + (level) - 1))
#define TRANSLATED	2ull		/* levels of the tables of a context: 4 */
#define NIC		0x28u		/* 00:05.0, later a cell's */
#define DISK		0x130u		/* 01:06.0 */
#define SCREEN		0x210u		/* 02:02.0, which Linux leaves untranslated */
#define LATE		0x300u		/* 03:00.0, on a bus that Linux finds later */
#define IOVA		0xfffff000ull	/* all domains translate this page */
#define PAGE(n)		((32ull << 20) + (n) * QV_PAGE)
#define CELL		(42 * QV_HUGE)

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
		    (level == 1 ? pa : TABLE(domain, level - 1)) | 3);
}

/* @type: 0 translated by the tables of the domain, 2 not at all */
static void linux_attach(u32 bdf, u32 domain, u32 type)
{
	put(CONTEXTS(bdf >> 8) + 16 * (bdf & 0xff) + 8, TRANSLATED | (u64)domain << 8);
	put(CONTEXTS(bdf >> 8) + 16 * (bdf & 0xff), (type ? 0 : TABLE(domain, 4)) | type << 2 | 1);
}

static void linux_detach(u32 bdf)
{
	put(CONTEXTS(bdf >> 8) + 16 * (bdf & 0xff), 0);
}

/* Linux puts a request into its queue, and waits. Returns how many were refused */
static u32 linux_asks(u64 low, u64 high)
{
	struct pcpu *cpu = pcpu_of(0);
	u32 denied = cpu->status->denied;

	fake_vtd_put(tail, low, high);
	fake_vtd_put((tail + 16) & 0xfff, VTD_WAIT | VTD_WAIT_STORE | 2ull << 32, FAKE_STATUS);
	tail = (tail + 32) & 0xfff;
	vtd_write(cpu, &me()->iommu.units[0], VTD_IQT, tail);
	return cpu->status->denied - denied;
}

static void open_linux(void)
{
	u32 bus;

	memset(&w, 0, sizeof(w));
	fake_vtd_prepare(true);
	memset(fake_ram + FAKE_ROOT, 0, 64 * QV_PAGE);
	tail = 5 * 16;
	for (bus = 0; bus < 3; bus++)
		put(FAKE_ROOT + 16 * bus, CONTEXTS(bus) | 1);
	linux_map(1, PAGE(1));
	linux_map(2, PAGE(2));
	linux_attach(NIC, 1, 0);
	linux_attach(DISK, 2, 0);
	linux_attach(SCREEN, 3, 2);
	fake_vtd.root = FAKE_ROOT;
	CHECK_EQ(fake_vtd_dma_of(NIC, IOVA), PAGE(1));
	me()->boot.iommus.translated = 1;
	CHECK_EQ(iommu_tables(me()), 0);
	CHECK_EQ(call_iommu(pcpu_of(0), QV_IOMMU_TAKE, 0), QV_ME_OK);
}

static void test_devices_keep_the_tables_of_linux(void)
{
	open_linux();
	CHECK(fake_vtd.root != FAKE_ROOT);
	CHECK_EQ(fake_vtd_dma_of(NIC, IOVA), PAGE(1));
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(2));
	CHECK_EQ(fake_vtd_dma_of(NIC, PAGE(1)), 0);
	CHECK_EQ(fake_vtd_dma_of(DISK | 1, IOVA), 0);
	CHECK_EQ(fake_vtd_dma_of(SCREEN, 0x5000), 0x5000);	/* by the monitor's table */
	CHECK_EQ(fake_vtd_dma_of(SCREEN, FAKE_BLOCK), 0);
	CHECK_EQ(call_iommu(pcpu_of(0), QV_IOMMU_GIVE, 0), QV_ME_OK);
	CHECK_EQ(fake_vtd.root, FAKE_ROOT);
	CHECK_EQ(fake_vtd_dma_of(NIC, IOVA), PAGE(1));
	CHECK_EQ(call_iommu(pcpu_of(0), QV_IOMMU_TAKE, 0), QV_ME_OK);
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(2));
	CHECK_EQ(fake_vtd_dma_of(SCREEN, FAKE_BLOCK), 0);
}

static void test_linux_flushes_what_it_unmaps(void)
{
	static const u64 requests[][2] = {
		{ VTD_IOTLB | VTD_GLOBAL, 0 },
		{ VTD_IOTLB | VTD_BY_DOMAIN << 4 | 2 << 16 | VTD_DRAIN, 0 },
		{ VTD_IOTLB | VTD_BY_PAGE << 4 | 2 << 16, IOVA },
		{ VTD_IOTLB | VTD_BY_PAGE << 4 | 2 << 16, (IOVA & ~0x1fffffull) | 1 << 6 | 9 },
		/* more pages than the unit knows; an address inside; reserved bits */
		{ VTD_IOTLB | VTD_BY_PAGE << 4 | 2 << 16, 63 },
		{ VTD_IOTLB | VTD_BY_PAGE << 4 | 2 << 16 | 0xffffffff0000ff00, IOVA | 0xf83 },
	};
	u32 i;

	open_linux();
	for (i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		unit_case("request %u", i);
		linux_map(2, PAGE(i));
		CHECK_EQ(linux_asks(VTD_IOTLB | VTD_GLOBAL, 0), 0);
		CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(i));
		linux_map(2, PAGE(99));
		CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(i));
		CHECK_EQ(linux_asks(requests[i][0], requests[i][1]), 0);
		CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(99));
	}
	CHECK_EQ(linux_asks(VTD_IOTLB, 0), 1);		/* no granularity: the unit would stop */
	for (i = 0; i < 300; i++)			/* the ring of both goes round */
		CHECK_EQ(linux_asks(requests[i % 4][0], requests[i % 4][1]), 0);
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(99));
}

static void test_devices_that_come_and_go_are_followed(void)
{
	open_linux();
	CHECK_EQ(fake_vtd_dma_of(DISK | 1, IOVA), 0);
	linux_attach(DISK | 1, 1, 0);		/* an entry that was absent: no request follows */
	CHECK_EQ(fake_vtd_dma_of(DISK | 1, IOVA), PAGE(1));
	linux_attach(SCREEN | 1, 1, 0);		/* on a bus with a copy: at the next request */
	CHECK_EQ(linux_asks(VTD_IOTLB | VTD_BY_DOMAIN << 4 | 7 << 16, 0), 0);
	CHECK_EQ(fake_vtd_dma_of(SCREEN | 1, IOVA), PAGE(1));
	linux_attach(LATE, 2, 0);
	put(FAKE_ROOT + 16 * 3, CONTEXTS(3) | 1);
	CHECK_EQ(call_iommu(pcpu_of(0), QV_IOMMU_LOOK, 0), QV_ME_OK);
	CHECK_EQ(fake_vtd_dma_of(LATE, IOVA), PAGE(2));
	linux_detach(DISK);
	linux_detach(SCREEN | 1);
	CHECK_EQ(linux_asks(VTD_CONTEXTS | VTD_GLOBAL, 0), 0);
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
		CHECK_EQ(linux_asks(VTD_CONTEXTS | VTD_GLOBAL, 0), 0);
		CHECK_EQ(linux_asks(VTD_IOTLB | VTD_GLOBAL, 0), 0);
		CHECK_EQ(fake_vtd_dma_of(NIC, 0x5000), CELL + 0x5000);
		CHECK_EQ(fake_vtd_dma_of(NIC, IOVA), 0);
		CHECK_EQ(fake_vtd_dma_of(NIC | 1, IOVA), PAGE(2));
		CHECK_EQ(fake_vtd_dma_of(SCREEN, CELL), 0);
		linux_attach(NIC, 1, 0);
		CHECK_EQ(world_stop(&w, 1), 0);
		CHECK_EQ(fake_vtd_dma_of(NIC, 0x5000), 0);
		CHECK_EQ(linux_asks(VTD_CONTEXTS | VTD_GLOBAL, 0), 0);
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

	open_linux();
	linux_attach(SCREEN | 1, FAKE_DOMAIN + 1, 0);	/* the number of a cell's table */
	linux_attach(SCREEN | 2, FAKE_DOMAIN, 0);	/* of the monitor's table */
	linux_attach(SCREEN | 3, 1, 1);			/* translations of its own */
	CHECK_EQ(linux_asks(VTD_CONTEXTS | VTD_GLOBAL, 0), 0);
	CHECK_EQ(fake_vtd_dma_of(SCREEN | 1, IOVA), 0);
	CHECK_EQ(fake_vtd_dma_of(SCREEN | 2, IOVA), 0);
	CHECK_EQ(fake_vtd_dma_of(SCREEN | 3, IOVA), 0);
	/* a table in the monitor's memory, which the monitor would then write */
	unit = me()->iommu.units[0].root;
	memcpy(contexts, fake_ram + unit, 16);
	put(FAKE_ROOT, unit | 1);
	put(FAKE_ROOT + 32, me()->iommu.units[0].queue | 1);
	CHECK_EQ(linux_asks(VTD_CONTEXTS | VTD_GLOBAL, 0), 0);
	CHECK_EQ(get(unit), 0);
	CHECK(get(unit + 32) != (me()->iommu.units[0].queue | 1));
	CHECK_EQ(fake_vtd_dma_of(SCREEN, 0x5000), 0);
	put(FAKE_ROOT, CONTEXTS(0) | 1);
	CHECK_EQ(linux_asks(VTD_CONTEXTS | VTD_GLOBAL, 0), 0);
	CHECK_EQ(get(unit), contexts[0]);
}

static void test_linux_that_translates_no_longer_is_not_taken(void)
{
	open_linux();
	CHECK_EQ(call_iommu(pcpu_of(0), QV_IOMMU_GIVE, 0), QV_ME_OK);
	*fake_vtd_reg(VTD_GSTS) &= ~VTD_TE;
	CHECK_EQ(call_iommu(pcpu_of(0), QV_IOMMU_TAKE, 0), QV_ME_IOMMU);
	*fake_vtd_reg(VTD_GSTS) |= VTD_TE;
	me()->pt_pool.next = me()->pt_pool.end;
	put(CONTEXTS(1) + 16, 0x9);			/* 01:00.1 is untranslated now */
	put(CONTEXTS(1) + 24, TRANSLATED | 3 << 8);
	CHECK_EQ(call_iommu(pcpu_of(0), QV_IOMMU_TAKE, 0), QV_ME_IOMMU);
	CHECK_EQ(fake_vtd.root, FAKE_ROOT);
	CHECK_EQ(fake_vtd_dma_of(DISK, IOVA), PAGE(2));
}

UNIT_SUITE(iommu_contexts) = {
	{ "iommu: devices keep Linux's tables, except those that it leaves untranslated",
	  test_devices_keep_the_tables_of_linux },
	{ "iommu: Linux flushes what it unmaps", test_linux_flushes_what_it_unmaps },
	{ "iommu: devices that come and go are followed",
	  test_devices_that_come_and_go_are_followed },
	{ "iommu: a device of a cell is taken from Linux's tables",
	  test_device_of_a_cell_is_taken_from_linuxs_tables },
	{ "iommu: tables that Linux lacks are absent", test_tables_that_linux_lacks_are_absent },
	{ "iommu: a unit whose Linux translates no longer stays with Linux",
	  test_linux_that_translates_no_longer_is_not_taken },
	{ 0 }
};
