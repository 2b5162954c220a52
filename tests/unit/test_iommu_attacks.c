// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attempts of a hostile Linux with units of the IOMMU that the monitor owns, a row for each. After
 * each, the fake units (which cache) let no device of Linux reach memory or CPUs that Linux has
 * lost, and the monitor's registers are as before. The attacks in machines are in
 * tests/attack/front/iommu.py.
 */
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "fake_amdvi.h"
#include "fake_vtd.h"
#include "iommu/amdvi.h"
#include "iommu/iommu.h"
#include "iommu/irte.h"
#include "iommu/vtd.h"
#include "tables/nested.h"
#include "unit.h"

#define SECRET		(100ull << 20)	/* a page of 2 MiB that Linux has lost */
#define LOST		3u	/* a CPU that Linux has lost. CPU n has the APIC id 2 * n */
#define ALL		(~0ull)
#define INDEX		3u
#define VECTOR		0x51u

struct attack {
	const char *kind, *words;
	void (*act)(u64 a, u64 b);
	u64 a, b;
	u32 denied;			/* the monitor counts at least so many refusals */
};

static struct pcpu *cpu;

static struct iommu_unit *unit(void)
{
	return &me()->iommu.units[0];
}

static void put(u64 pa, u64 value)
{
	memcpy(fake_ram + pa, &value, 8);
}

/* Linux loses memory and a CPU to a cell, after a device has used the memory */
static void lose(void)
{
	CHECK_EQ(front_prepare(&me()->nested, SECRET, QV_HUGE), 0);
	linux_memory(SECRET, QV_HUGE, LINUX_NONE);
	memset(fake_ram + SECRET, 0x5e, QV_HUGE);
	me()->icr.own_cpus &= ~(1ull << LOST);
	CHECK(iommu_flush(cpu));
}

static void memory_is_unchanged(void)
{
	u64 at;

	for (at = SECRET; at < SECRET + QV_HUGE; at++)
		if (fake_ram[at] != 0x5e)
			break;
	CHECK_EQ(at, SECRET + QV_HUGE);
}

/* ---- VT-d ---- */

static void vtd_request_of_linux(u64 low, u64 high)
{
	u32 at = unit()->linux_tail;

	fake_vtd_put(at, low, high);
	vtd_write(cpu, unit(), VTD_IQT, (at + fake_vtd_request()) & 0xfff);
}

static void vtd_register(u64 reg, u64 value)
{
	vtd_write(cpu, unit(), reg, value);
}

static void vtd_registers(u64 reg, u64 value)	/* of 64 bits, then a command that takes it */
{
	vtd_write(cpu, unit(), reg + 4, value >> 32);
	vtd_write(cpu, unit(), reg, value);
	vtd_write(cpu, unit(), VTD_GCMD,
		  *unit_kept(unit(), VTD_GSTS) | (reg == VTD_IRTA ? VTD_SIRTP : VTD_SRTP));
}

static void vtd_entry(u64 low, u64 high)	/* of interrupts, announced */
{
	put(FAKE_IRT + INDEX * 16, low);
	put(FAKE_IRT + INDEX * 16 + 8, high);
	vtd_request_of_linux(VTD_INTERRUPTS | VTD_SOME | (u64)INDEX << 32, 0);
}

static void vtd_silent(u64 low, u64 high)	/* changed after it was announced */
{
	vtd_entry(IRTE_PRESENT | IRTE_VECTOR(VECTOR), 0x80 | 1 << 18);
	CHECK(fake_vtd_message(INDEX));
	put(FAKE_IRT + INDEX * 16, low);
	put(FAKE_IRT + INDEX * 16 + 8, high);
}

/* A table of Linux that maps SECRET for the function @bdf, announced if @how */
static void vtd_attach(u64 bdf, u64 how)
{
	u64 at = FAKE_ROOT + QV_PAGE, context = at + (bdf & 0xff) * 16, level;

	memset(fake_ram + FAKE_ROOT, 0, 8 * QV_PAGE);
	put(FAKE_ROOT + (bdf >> 8) * 16, at | 1);
	put(context + 8, CONTEXT_LEVELS4 | CONTEXT_DOMAIN(1));
	put(context, (at + QV_PAGE) | (how >> 2 & 3) << 2 | 1);
	for (level = 4; level > 2; level--)
		put(at + (5 - level) * QV_PAGE + (SECRET >> (3 + 9 * level) & 0x1ff) * 8,
		    (at + (6 - level) * QV_PAGE) | 3);
	put(at + 3 * QV_PAGE + (SECRET >> 21 & 0x1ff) * 8, SECRET | PT_PS | 3);
	if (how & 1)
		vtd_request_of_linux(VTD_CONTEXTS | VTD_GLOBAL, 0);
	CHECK_EQ(fake_vtd_dma_of(bdf, SECRET), 0);
}

static void vtd_full(u64 low, u64 high)		/* a queue full of one request */
{
	u32 at = unit()->linux_tail, i;

	for (i = 1; i < QV_PAGE / fake_vtd_request(); i++, at = (at + fake_vtd_request()) & 0xfff)
		fake_vtd_put(at, low, high);
	vtd_write(cpu, unit(), VTD_IQT, at);
}

/* Linux's device sends messages by the entry of a cell's device, and changes the entry */
static void vtd_spoof(u64 bdf, u64 unused)
{
	u32 first = QV_MON_IRTES, address = REMAP_ADDRESS(first);

	vtd_ops.messages(unit(), first, 0x80, 2 * LOST, true);
	put(FAKE_IRT + (first + VECTOR) * 16, IRTE_PRESENT | IRTE_VECTOR(VECTOR));
	vtd_request_of_linux(VTD_INTERRUPTS | VTD_SOME | (u64)(first + VECTOR) << 32, 0);
	CHECK_EQ(fake_vtd_interrupt(bdf, address, VECTOR), 0);
	CHECK_EQ(fake_vtd_interrupt(0x80, address, VECTOR), (2u * LOST) << 8 | VECTOR);
	put(FAKE_IRT + (first + VECTOR) * 16, 0);
	vtd_ops.messages(unit(), first, 0x80, 2 * LOST, false);
}

static void vtd_compatible(u64 address, u64 data)
{
	vtd_write(cpu, unit(), VTD_GCMD, *unit_kept(unit(), VTD_GSTS) | VTD_CFI);
	CHECK_EQ(fake_vtd_interrupt(0x80, address, data), 0);
}

static void vtd_dma(u64 bdf, u64 address)
{
	CHECK_EQ(fake_vtd_dma_of(bdf, address), 0);
}

#define VTD_STORE(value)	(VTD_WAIT | VTD_WAIT_STORE | (u64)(value) << 32)
#define TO(id)			(IRTE_PRESENT | IRTE_VECTOR(VECTOR) | (u64)(id) << 32)

static const struct attack vtd_attacks[] = {
	{ "holes", "DMA to a cell", vtd_dma, 0x80, SECRET + 0x5000, 0 },
	{ "holes", "DMA to the monitor", vtd_dma, 0x80, FAKE_BLOCK, 0 },
	{ "holes", "DMA to the end of the monitor", vtd_dma, 0x80,
	  FAKE_BLOCK + QV_BLOCK_FRONT_END - 8, 0 },
	{ "holes", "DMA to a unit", vtd_dma, 0x80, FAKE_UNIT + VTD_GCMD, 0 },
	{ "holes", "DMA to an IOAPIC", vtd_dma, 0x80, 0xfec00000, 0 },
	{ "holes", "DMA of each other function", vtd_dma, 0xffff, SECRET, 0 },
	{ "tables", "a root table with a cell's memory", vtd_attach, 0x80, 1, 0 },
	{ "tables", "the same, of a function that has DMA already", vtd_attach, 0, 1, 0 },
	{ "late attach", "a table that is not announced", vtd_attach, 0x88, 0, 0 },
	{ "late attach", "a function on another bus", vtd_attach, 0x300, 0, 0 },
	{ "late attach", "the same, announced", vtd_attach, 0x300, 1, 0 },
	{ "ATS", "a table with translated requests", vtd_attach, 0x80, 1 | 1 << 2, 0 },
	{ "ATS", "the same, not announced", vtd_attach, 0x80, 1 << 2, 0 },
	{ "ATS", "a flush of a device's own cache", vtd_request_of_linux, VTD_DEVICE_TLB, ALL,
	  0 },
	{ "bridges", "a context without translation", vtd_attach, 0x80, 1 | 2 << 2, 0 },
	{ "queues", "a tail behind the queue", vtd_register, VTD_IQT, 0x1000, 1 },
	{ "queues", "a tail inside a request", vtd_register, VTD_IQT, 8, 1 },
	{ "queues", "a tail of ones", vtd_register, VTD_IQT, 0xffffffff, 1 },
	{ "queues", "an upper half of the tail", vtd_register, VTD_IQT + 4, 1, 1 },
	{ "queues", "another queue", vtd_registers, VTD_IQA, SECRET, 3 },
	{ "queues", "a longer queue", vtd_register, VTD_IQA, FAKE_RING | 7, 1 },
	{ "queues", "a head", vtd_register, VTD_IQH, 0x40, 1 },
	{ "queues", "requests without kind", vtd_full, 0, 0, 1 },
	{ "queues", "unknown requests", vtd_full, 15, ALL, 1 },
	{ "queues", "a request of scalable mode", vtd_request_of_linux, 7, 0, 0 },
	{ "queues", "ones", vtd_full, ALL, ALL, 1 },
	{ "queues", "all entries of interrupts, many times", vtd_full, VTD_INTERRUPTS, 0, 0 },
	{ "queues", "flushes of pages with reserved bits", vtd_full, 0xffffffff0000ff32, ALL,
	  0 },
	{ "stores", "to a cell", vtd_request_of_linux, VTD_STORE(1), SECRET, 1 },
	{ "stores", "to the end of a cell", vtd_request_of_linux, VTD_STORE(1),
	  SECRET + QV_HUGE - 4, 1 },
	{ "stores", "over the start of a cell", vtd_request_of_linux, VTD_STORE(1), SECRET - 2, 1 },
	{ "stores", "to the monitor", vtd_request_of_linux, VTD_STORE(1), FAKE_BLOCK, 1 },
	{ "stores", "to a unit", vtd_request_of_linux, VTD_STORE(0), FAKE_UNIT + VTD_GCMD, 1 },
	{ "stores", "to a local APIC", vtd_request_of_linux, VTD_STORE(VECTOR), 0xfee00300, 1 },
	{ "stores", "to an IOAPIC", vtd_request_of_linux, VTD_STORE(1), 0xfec00010, 1 },
	{ "stores", "to config space", vtd_request_of_linux, VTD_STORE(1), FAKE_ECAM, 1 },
	{ "stores", "beyond RAM", vtd_request_of_linux, VTD_STORE(1), 1ull << 40, 1 },
	{ "stores", "beyond all addresses", vtd_request_of_linux, VTD_STORE(1), ALL & ~3ull, 1 },
	{ "stores", "many", vtd_full, VTD_STORE(1), SECRET, 1 },
	{ "stores", "with an interrupt", vtd_request_of_linux, VTD_STORE(1) | VTD_WAIT_IRQ,
	  FAKE_STATUS, 1 },
	{ "fault messages", "to a cell's CPU", vtd_register, 0x40, 0xfee00000 | LOST << 13, 0 },
	{ "fault messages", "NMI", vtd_register, 0x3c, 0x400, 0 },
	{ "fault messages", "allowed", vtd_register, VTD_FECTL, 0, 0 },
	{ "interrupts", "to a cell's CPU", vtd_entry, TO(2 * LOST), 0, 1 },
	{ "interrupts", "to all CPUs", vtd_entry, TO(0xffffffff), 0, 1 },
	{ "interrupts", "to no CPU", vtd_entry, TO(1), 0, 1 },
	{ "interrupts", "to a group of CPUs", vtd_entry, TO(0x41) | 1 << 2, 0, 1 },
	{ "interrupts", "NMI", vtd_entry, TO(0) | 4 << 5, 0, 1 },
	{ "interrupts", "SMI", vtd_entry, TO(0) | 2 << 5, 0, 1 },
	{ "interrupts", "INIT", vtd_entry, TO(0) | 5 << 5, 0, 1 },
	{ "interrupts", "ExtINT", vtd_entry, TO(0) | 7 << 5, 0, 1 },
	{ "interrupts", "a vector of an exception", vtd_entry, IRTE_PRESENT | IRTE_VECTOR(14), 0,
	  1 },
	{ "interrupts", "posted", vtd_entry, TO(0) | 1 << 15, SECRET, 1 },
	{ "interrupts", "reserved bits", vtd_entry, TO(0), 1 << 20, 1 },
	{ "interrupts", "the monitor's own mark", vtd_entry, TO(2 * LOST) | IRTE_REFUSED, 0, 1 },
	{ "interrupts", "changed after the check", vtd_silent, TO(2 * LOST), 0, 0 },
	{ "interrupts", "the same, with NMI", vtd_silent, TO(0) | 4 << 5, 0, 0 },
	{ "source ids", "a function uses the entry of another", vtd_spoof, 0x88, 0, 0 },
	{ "source ids", "the same, another function of the device", vtd_spoof, 0x81, 0, 0 },
	{ "source ids", "the same, the function on another bus", vtd_spoof, 0x180, 0, 0 },
	{ "compatible format", "to a cell's CPU", vtd_compatible, 0xfee00000 | LOST << 13, VECTOR,
	  1 },
	{ "compatible format", "NMI to all", vtd_compatible, 0xfeeff000, 0x400, 1 },
	{ "root pointers", "the root table", vtd_registers, VTD_RTADDR, FAKE_ROOT, 3 },
	{ "root pointers", "the root table in a cell", vtd_registers, VTD_RTADDR, SECRET, 3 },
	{ "root pointers", "the table of interrupts", vtd_registers, VTD_IRTA, FAKE_IRT | 15, 3 },
	{ "disabled units", "all", vtd_register, VTD_GCMD, 0, 1 },
	{ "disabled units", "translation", vtd_register, VTD_GCMD, VTD_QIE | VTD_IRE, 1 },
	{ "disabled units", "remapping", vtd_register, VTD_GCMD, VTD_QIE | VTD_TE, 1 },
	{ "disabled units", "the queue", vtd_register, VTD_GCMD, VTD_TE | VTD_IRE, 1 },
	{ "disabled units", "protected memory", vtd_register, 0x64, 1u << 31, 1 },
};

static void vtd_contained(const struct fake_vtd_unit *before)
{
	static const u32 bdfs[] = { 0, 0x80, 0x88, 0x300, 0xffff };
	u32 i, at;
	u64 low;

	for (i = 0; i < sizeof(bdfs) / sizeof(*bdfs); i++) {
		CHECK_EQ(fake_vtd_dma_of(bdfs[i], SECRET), 0);
		CHECK_EQ(fake_vtd_dma_of(bdfs[i], FAKE_BLOCK), 0);
		CHECK_EQ(fake_vtd_dma_of(bdfs[i], FAKE_UNIT), 0);
	}
	for (i = 0; i < QV_MON_IRTES; i++) {
		low = fake_vtd_message(i);
		CHECK(!low || (!(low & 0xff0080fe) && low >> 32 < 2 * LOST));
	}
	for (at = 0; at < QV_PAGE; at += 4)
		if (at != VTD_IQH && at != VTD_IQT)
			CHECK_EQ(*fake_vtd_reg(at), before->regs[at / 4]);
	CHECK_EQ(fake_vtd.root, before->root);
	CHECK_EQ(fake_vtd.irta, before->irta);
}

static void try_by_vtd(const struct attack *a)
{
	static struct fake_vtd_unit before;
	u32 denied;

	unit_case("stage %u, %s: %s", fake_vtd_stage, a->kind, a->words);
	cpu = fake_vtd_open(true);
	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	CHECK_EQ(fake_vtd_dma(SECRET), SECRET);			/* cached */
	lose();
	before = fake_vtd;
	denied = cpu->status->denied;
	a->act(a->a, a->b);
	CHECK(cpu->status->denied - denied >= a->denied);
	vtd_contained(&before);
	memory_is_unchanged();
}

/* In legacy mode, and in scalable mode with tables of the first or the second stage */
static void test_attacks_by_vtd(void)
{
	const struct attack *a;

	for (fake_vtd_stage = 0; fake_vtd_stage < 3; fake_vtd_stage++)
		for (a = vtd_attacks; a < vtd_attacks + sizeof(vtd_attacks) / sizeof(*a); a++)
			try_by_vtd(a);
	fake_vtd_stage = 0;
}

/* ---- AMD-Vi ---- */

#define DEVICE		0x80u

static void amd_request(u64 low, u64 high)
{
	fake_amdvi_request(cpu, low, high);
}

static void amd_register(u64 reg, u64 value)
{
	amdvi_ops.write(cpu, unit(), reg, value);
	amdvi_ops.write(cpu, unit(), reg + 4, value >> 32);
}

static void amd_tail(u64 value, u64 unused)
{
	amdvi_ops.write(cpu, unit(), AMDVI_TAIL, value);
}

static void amd_entry(u64 low, u64 high)		/* of interrupts, announced */
{
	put(FAKE_AMDVI_IRT + INDEX * 16, low);
	put(FAKE_AMDVI_IRT + INDEX * 16 + 8, high);
	amd_request(AMDVI_REQUEST(AMDVI_INTERRUPTS) | DEVICE, 0);
}

static void amd_silent(u64 low, u64 high)
{
	amd_entry(1, VECTOR);
	CHECK_EQ(fake_amdvi_message(DEVICE, INDEX), VECTOR);
	put(FAKE_AMDVI_IRT + INDEX * 16, low);
	put(FAKE_AMDVI_IRT + INDEX * 16 + 8, high);
}

static void amd_device(u64 low, u64 high)		/* an entry of a device, announced */
{
	fake_amdvi_device(DEVICE, low, high, FAKE_AMDVI_IRT);
	amd_request(AMDVI_REQUEST(AMDVI_DEVICE) | DEVICE, 0);
}

/* The word of a device's entry that says how its interrupts go, announced */
static void amd_control(u64 word, u64 bdf)
{
	fake_amdvi_device(bdf, DTE_VALID | DTE_OPEN, 0, 0);
	put(FAKE_AMDVI_DEVICES + 32 * bdf + 16, word);
	amd_request(AMDVI_REQUEST(AMDVI_DEVICE) | bdf, 0);
}

static void amd_late(u64 bdf, u64 low)			/* not announced */
{
	fake_amdvi_device(bdf, low, 0, FAKE_AMDVI_IRT);
	CHECK_EQ(fake_amdvi_dma(bdf, 0x5000), 0);
}

static void amd_dma(u64 bdf, u64 address)
{
	CHECK_EQ(fake_amdvi_dma(bdf, address), 0);
}

/* Linux asks for the entry of a cell's function */
static void amd_spoof(u64 kind, u64 unused)
{
	CHECK(iommu_own(cpu, 0x90));
	amdvi_ops.set(cpu, unit(), 0x90, 0, FAKE_AMDVI_DOMAIN + 1);
	CHECK(iommu_flush(cpu));
	fake_amdvi_device(0x90, DTE_VALID | DTE_OPEN, 0, FAKE_AMDVI_IRT);
	amd_request(AMDVI_REQUEST(kind) | 0x90, 0);
	CHECK_EQ(fake_amdvi_dma(0x90, 0x5000), 0);
	CHECK_EQ(fake_amdvi_message(0x90, INDEX), 0);
}

#define AMD_STORE	(AMDVI_REQUEST(AMDVI_WAIT) | AMDVI_WAIT_STORE)
#define AMD_TO(id)	(1 | (u64)(id) << 8)
#define EXCLUSION	0x20u		/* registers */
#define LIMIT		0x28u
#define REQUESTS	0x38u
#define VIRTUAL		0xe0u
#define SEGMENT		0x100u

static const struct attack amd_attacks[] = {
	{ "holes", "DMA to a cell", amd_dma, DEVICE, SECRET + 0x5000, 0 },
	{ "holes", "DMA to the monitor", amd_dma, DEVICE, FAKE_BLOCK, 0 },
	{ "holes", "DMA to a unit", amd_dma, DEVICE, FAKE_AMDVI, 0 },
	{ "holes", "DMA to an IOAPIC", amd_dma, DEVICE, 0xfec01000, 0 },
	{ "entries of devices", "all memory", amd_device, DTE_VALID | DTE_OPEN, 0, 0 },
	{ "entries of devices", "not valid", amd_device, 0, 0, 0 },
	{ "entries of devices", "without a table", amd_device, 1, 0, 0 },
	{ "entries of devices", "a table in a cell", amd_device,
	  DTE_VALID | DTE_OPEN | 4 << 9 | SECRET, 5, 0 },
	{ "entries of devices", "a cell's number", amd_device, DTE_VALID | DTE_OPEN | 4 << 9,
	  FAKE_AMDVI_DOMAIN + 1, 0 },
	{ "entries of devices", "reserved bits", amd_device, ALL, ALL, 0 },
	{ "entries of devices", "tables of processes", amd_device,
	  DTE_VALID | DTE_OPEN | 1ull << 55, ALL << 16, 0 },
	{ "entries of devices", "system management messages", amd_device, DTE_VALID | DTE_OPEN,
	  3ull << 40, 0 },
	{ "entries of devices", "port accesses", amd_device, DTE_VALID | DTE_OPEN, 3ull << 35,
	  0 },
	{ "ATS", "translated requests", amd_device, DTE_VALID | DTE_OPEN, 1ull << 32, 0 },
	{ "exclusion ranges", "the entry's bit", amd_device, DTE_VALID | DTE_OPEN, 1ull << 39,
	  0 },
	{ "exclusion ranges", "the range", amd_register, EXCLUSION, SECRET | 3, 1 },
	{ "exclusion ranges", "its end", amd_register, LIMIT, SECRET + QV_HUGE, 1 },
	{ "late attach", "an entry that is not announced", amd_late, 0x88, DTE_VALID | DTE_OPEN,
	  0 },
	{ "late attach", "behind the table", amd_request, AMDVI_REQUEST(AMDVI_DEVICE) | 0xffff, 0,
	  1 },
	{ "source ids", "the entry of a cell's function", amd_spoof, AMDVI_DEVICE, 0, 0 },
	{ "source ids", "its interrupts", amd_spoof, AMDVI_INTERRUPTS, 0, 0 },
	{ "queues", "a tail behind the queue", amd_tail, 0x2000, 0, 1 },
	{ "queues", "a tail inside a request", amd_tail, 8, 0, 1 },
	{ "queues", "another queue", amd_register, AMDVI_QUEUE, SECRET | 8ull << 56, 1 },
	{ "queues", "another log of events", amd_register, AMDVI_EVENTS, SECRET | 8ull << 56, 1 },
	{ "queues", "a log of requests of devices", amd_register, REQUESTS, SECRET | 8ull << 56,
	  1 },
	{ "queues", "a log of virtual machines", amd_register, VIRTUAL, SECRET | 8ull << 56, 1 },
	{ "queues", "unknown requests", amd_request, AMDVI_REQUEST(9), ALL, 1 },
	{ "queues", "ones", amd_request, ALL, ALL, 1 },
	{ "queues", "tables of virtual machines", amd_request, AMDVI_REQUEST(AMDVI_PAGES), 4, 1 },
	{ "stores", "to a cell", amd_request, AMD_STORE | SECRET, 1, 1 },
	{ "stores", "to the end of a cell", amd_request, AMD_STORE | (SECRET + QV_HUGE - 8), 1, 1 },
	{ "stores", "to the monitor", amd_request, AMD_STORE | FAKE_BLOCK, 1, 1 },
	{ "stores", "to a unit", amd_request, AMD_STORE | (FAKE_AMDVI + AMDVI_CONTROL), 0, 1 },
	{ "stores", "to a local APIC", amd_request, AMD_STORE | 0xfee00300, VECTOR, 1 },
	{ "stores", "beyond RAM", amd_request, AMD_STORE | 1ull << 40, 1, 1 },
	{ "stores", "with an interrupt", amd_request,
	  AMD_STORE | AMDVI_WAIT_IRQ | FAKE_AMDVI_STATUS, 1, 1 },
	{ "fault messages", "of events, to a cell's CPU", amd_register, AMDVI_MESSAGES,
	  (u64)(2 * LOST) << 8 | (u64)VECTOR << 32, 0 },
	{ "fault messages", "of virtual machines", amd_register, AMDVI_MESSAGES + 16, ALL, 0 },
	{ "fault messages", "allowed", amd_register, AMDVI_CONTROL, ALL, 1 },
	{ "interrupts", "to a cell's CPU", amd_entry, AMD_TO(2 * LOST), VECTOR, 1 },
	{ "interrupts", "to all CPUs", amd_entry, AMD_TO(0xffffff), VECTOR | 0xffull << 56, 1 },
	{ "interrupts", "to a group of CPUs", amd_entry, AMD_TO(0x41) | 1 << 6, VECTOR, 1 },
	{ "interrupts", "NMI", amd_entry, AMD_TO(0) | 4 << 2, VECTOR, 1 },
	{ "interrupts", "SMI", amd_entry, AMD_TO(0) | 2 << 2, VECTOR, 1 },
	{ "interrupts", "INIT", amd_entry, AMD_TO(0) | 5 << 2, VECTOR, 1 },
	{ "interrupts", "a vector of an exception", amd_entry, AMD_TO(0), 14, 1 },
	{ "interrupts", "of a virtual machine", amd_entry, AMD_TO(0) | 1 << 7, SECRET, 1 },
	{ "interrupts", "changed after the check", amd_silent, AMD_TO(2 * LOST), VECTOR, 0 },
	{ "compatible format", "interrupts pass the table", amd_control, DTE_REMAP | 1ull << 60,
	  DEVICE, 0 },
	{ "compatible format", "no table", amd_control, 0, DEVICE, 0 },
	{ "compatible format", "NMI, INIT and ExtINT pass", amd_control,
	  DTE_REMAP | DTE_BY_IRT | 0xffull << 56 | FAKE_AMDVI_IRT | 9 << 1, DEVICE, 0 },
	{ "compatible format", "a table in a cell", amd_control,
	  DTE_REMAP | DTE_BY_IRT | SECRET | 9 << 1, DEVICE, 1 },
	{ "compatible format", "a table of 32,768 entries", amd_control,
	  DTE_REMAP | DTE_BY_IRT | FAKE_AMDVI_IRT | 15 << 1, DEVICE, 0 },
	{ "root pointers", "the table of devices", amd_register, AMDVI_DEVICES,
	  FAKE_AMDVI_DEVICES | 1, 1 },
	{ "root pointers", "the table of devices in a cell", amd_register, AMDVI_DEVICES, SECRET,
	  1 },
	{ "root pointers", "a table of devices in pieces", amd_register, SEGMENT, SECRET, 1 },
	{ "disabled units", "all", amd_register, AMDVI_CONTROL, 0, 1 },
	{ "disabled units", "the queue", amd_register, AMDVI_CONTROL, AMDVI_ON | AMDVI_EV_ON, 1 },
};

static void amd_contained(const struct fake_amdvi_unit *before)
{
	u32 bdf, i, at;
	u64 message;

	for (bdf = DEVICE; bdf <= 0x90; bdf += 8) {
		CHECK_EQ(fake_amdvi_dma(bdf, SECRET), 0);
		CHECK_EQ(fake_amdvi_dma(bdf, FAKE_BLOCK), 0);
		CHECK_EQ(fake_amdvi_dma(bdf, FAKE_AMDVI), 0);
		CHECK(!(fake_amdvi.device[bdf][1] & ~0xffffull));
		for (i = 0; i < QV_MON_DEVICE_IRTES; i++) {
			message = fake_amdvi_message(bdf, i);
			CHECK(message >> 8 < 2 * LOST);
		}
	}
	for (at = 0; at < FAKE_AMDVI_LEN; at += 4)
		if (at < AMDVI_HEAD || at > AMDVI_STATUS)
			CHECK_EQ(*fake_amdvi_reg(at), before->regs[at / 4]);
}

static void test_attacks_by_amdvi(void)
{
	static struct fake_amdvi_unit before;
	const struct attack *a;
	u32 denied;

	for (a = amd_attacks; a < amd_attacks + sizeof(amd_attacks) / sizeof(*a); a++) {
		unit_case("%s: %s", a->kind, a->words);
		cpu = fake_amdvi_open(false);
		CHECK_EQ(fake_take(cpu), QV_ME_OK);
		CHECK_EQ(fake_amdvi_dma(DEVICE, SECRET), SECRET);	/* cached */
		lose();
		before = fake_amdvi;
		denied = cpu->status->denied;
		a->act(a->a, a->b);
		CHECK(cpu->status->denied - denied >= a->denied);
		amd_contained(&before);
		memory_is_unchanged();
	}
}

UNIT_SUITE(iommu_attacks) = {
	{ "iommu attacks: by VT-d", test_attacks_by_vtd },
	{ "iommu attacks: by AMD-Vi", test_attacks_by_amdvi },
	{ 0 }
};
