// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hostile Linux and an AMD-Vi unit that the monitor owns: requests in Linux's queue, entries of
 * devices and of interrupts, writes to registers, events, while memory, CPUs and a device leave
 * Linux and return. After each step the unit, with all that it has cached, must let Linux's devices
 * reach Linux's memory and CPUs only, and the cell's device the cell only. The fake unit ends the
 * run at a request that no unit knows, or that asks for an interrupt.
 */
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "choices.h"
#include "fake_amdvi.h"
#include "fuzz.h"
#include "iommu_linux.h"
#include "iommu/amdvi.h"
#include "iommu/iommu.h"
#include "tables/nested.h"
#include "unit.h"

#define PATTERN		0x5ec2e75ec2e7ull
#define DEVICE		0x80u		/* of Linux, with a table of interrupts */
#define OTHER		0x88u		/* of Linux or of the cell */
#define LAST		0x90u
#define CELLS_ID	0x40u		/* APIC id of the cell's CPU */
#define CELLS_DOMAIN	(FAKE_AMDVI_DOMAIN + 1)
#define NUMBERS		32u		/* entries of interrupts that are looked at */

#define CELLS	(98ull << 20)		/* always of the cell */

static bool given;			/* OTHER is the cell's */
static u64 table;			/* of the cell's device */

/* Puts one request into Linux's queue */
static void ask(struct pcpu *cpu, u64 low, u64 high)
{
	if (linux_has(FAKE_AMDVI_RING))
		fake_amdvi_request(cpu, low, high);
}

static void announce(struct pcpu *cpu, u32 bdf)
{
	ask(cpu, AMDVI_REQUEST(AMDVI_DEVICE) | bdf, 0);
	ask(cpu, AMDVI_REQUEST(AMDVI_INTERRUPTS) | bdf, 0);
}

static u64 any_place(struct choices *c)
{
	static const u64 near[] = {
		FAKE_AMDVI_STATUS, FAKE_BLOCK, FAKE_BLOCK + QV_BLOCK_FRONT_END - 8, CELLS,
		FAKE_AMDVI + AMDVI_CONTROL, FAKE_RAM - 8, FAKE_RAM, 0xfee00000, 1ull << 52,
	};

	return any_address(c, near, sizeof(near) / 8);
}

static void requests(struct pcpu *cpu, struct choices *c)
{
	u32 num = choose(c, 8);
	u64 low, kind;

	for (; num; num--) {
		kind = choose(c, 16);
		low = kind == AMDVI_WAIT ? any_place(c) | choose(c, 8) :
		      choose(c, 4) ? DEVICE + 8 * choose(c, 4) : choose(c, 1ull << 60);
		ask(cpu, AMDVI_REQUEST(kind) | (low & ~(15ull << 60)), any_place(c));
	}
}

static u64 any_device(struct choices *c)
{
	static const u64 flags[] = {
		DTE_VALID, DTE_VALID | DTE_OPEN, DTE_OPEN, 1, 1ull << 55, 3ull << 52, 7ull << 9,
	};

	return flags[choose(c, 7)] | flags[choose(c, 7)] | choose(c, 8) << 9 |
	       (any_place(c) & PT_ADDR);
}

/* An entry of a device changes, and mostly Linux says so */
static void device(struct pcpu *cpu, struct choices *c)
{
	u32 bdf = DEVICE + 8 * choose(c, 3), i;
	u64 entry[4] = { any_device(c), choose(c, 1u << 17) };

	if (bdf == DEVICE)
		entry[2] = FAKE_AMDVI_IRT | DTE_REMAP | DTE_IRT_LEN | DTE_BY_IRT;
	else if (bdf == OTHER && choose(c, 4))	/* there are two tables for interrupts */
		entry[2] = DTE_IRT(choose(c, 2) ? FAKE_AMDVI_IRT : any_place(c)) |
			   (choose(c, 2) ? DTE_IRT_LEN : choose(c, 16) << 1) |
			   !!choose(c, 8) | (choose(c, 4) ? DTE_BY_IRT : choose(c, 4) << 60);
	for (i = 0; i < 4; i += 2)
		linux_writes(FAKE_AMDVI_DEVICES + bdf * DTE_LEN + 8 * i, entry[i], entry[i + 1]);
	if (choose(c, 4))
		announce(cpu, bdf);
}

/* Returns true if a unit may use this entry for a device of Linux: 2.2.8.2; x2APIC ids */
static bool allowed(u64 low, u64 high)
{
	u64 dest = (low >> 8 & 0xffffff) | high >> 56 << 24;

	/* reserved bits; posted; a mode other than fixed and lowest priority; an exception */
	if (low >> 32 || low & 0xa0 || high << 8 >> 16 || (low >> 2 & 7) > 1 || (high & 0xff) < 16)
		return false;
	return linux_only(dest, low & 1 << 6);
}

/* An entry of interrupts changes, and mostly Linux says so */
static void entry(struct pcpu *cpu, struct choices *c)
{
	static const u64 flags[] = {
		0, 1 << 1, 1 << 2, 4 << 2, 1 << 5, 1 << 6, 1 << 7, 1ull << 40
	};
	u32 index = choose(c, NUMBERS);
	u64 low = !!choose(c, 8) | choose(c, 12) << 8 | flags[choose(c, 8)] | flags[choose(c, 8)];
	u64 high = choose(c, 64) | (choose(c, 8) ? 0 : choose(c, 1ull << 56) << 8);

	linux_writes(FAKE_AMDVI_IRT + index * 16, low, high);
	if (!choose(c, 4) || !linux_has(FAKE_AMDVI_RING) || !linux_has(FAKE_AMDVI_IRT))
		return;
	fake_amdvi_device(DEVICE, DTE_VALID | DTE_OPEN, 7, FAKE_AMDVI_IRT);
	ask(cpu, AMDVI_REQUEST(AMDVI_INTERRUPTS) | DEVICE, 0);
	ask(cpu, AMDVI_REQUEST(AMDVI_WAIT) | AMDVI_WAIT_STORE | FAKE_AMDVI_STATUS, 1);
	CHECK_EQ(fake_amdvi_message(DEVICE, index),
		 low & 1 && allowed(low, high) ? (low & 0xffffff00) | (high & 0xff) : 0);
}

static void memory(struct pcpu *cpu, struct choices *c)
{
	u32 i = choose(c, HUGES);

	linux_memory(huge[i], QV_HUGE, gone >> i & 1 ? LINUX_ALL : LINUX_NONE);
	gone ^= 1u << i;
	CHECK(iommu_flush(cpu));
}

static void cpus(struct pcpu *cpu, struct choices *c)
{
	me()->icr.own_cpus ^= 1ull << (1 + choose(c, FAKE_CPUS - 1));
	CHECK(iommu_flush(cpu));
}

static void cell(struct pcpu *cpu)
{
	given = !given;
	if (!given) {
		amdvi_set(cpu, &me()->iommu.units[0], OTHER, 0, FAKE_AMDVI_DOMAIN);
		CHECK(iommu_look(cpu) && iommu_flush(cpu));
		return;
	}
	if (!iommu_own(cpu, OTHER)) {
		given = false;
		return;
	}
	amdvi_set(cpu, &me()->iommu.units[0], OTHER, 0, CELLS_DOMAIN);
	CHECK(iommu_look(cpu) && iommu_flush(cpu));
	CHECK_EQ(fake_amdvi_dma(OTHER, 0), 0);
	amdvi_messages(&me()->iommu.units[0], 0, OTHER, CELLS_ID, true);
	amdvi_set(cpu, &me()->iommu.units[0], OTHER, table, CELLS_DOMAIN);
	CHECK(iommu_flush(cpu));
}

static void cells(struct pcpu *cpu, struct choices *c)
{
	cell(cpu);
}

static void registers(struct pcpu *cpu, struct choices *c)
{
	u32 reg = (choose(c, 2) ? 0 : AMDVI_HEAD) + choose(c, 128) * 4;

	if (reg != AMDVI_TAIL)
		amdvi_ops.write(cpu, &me()->iommu.units[0], reg, choose(c, 1ull << 32));
	(void)unit_read(cpu, &me()->iommu.units[0], reg);
}

static void events(struct pcpu *cpu, struct choices *c)
{
	u32 num = choose(c, 4);

	for (; num; num--)
		fake_amdvi_event(choose(c, ~0ull), choose(c, ~0ull));
	*fake_amdvi_reg(AMDVI_STATUS) |= choose(c, 2);	/* the log has overflowed */
	CHECK(iommu_look(cpu));
}

static void check_device(u32 bdf)
{
	const u64 *irte;
	u64 to;
	u32 i;

	for (i = 0; i < NUMBERS; i++) {
		to = fake_amdvi_message(bdf, i);
		irte = fake_amdvi.irtes[i % 16];
		CHECK(!to || allowed(irte[0], irte[1]));
	}
	for (i = 0; i < HUGES; i++) {
		to = fake_amdvi_dma(bdf, huge[i] + 8);
		CHECK(!to || (to == huge[i] + 8 && !(gone >> i & 1)));
	}
	CHECK_EQ(fake_amdvi_dma(bdf, FAKE_BLOCK), 0);
	CHECK_EQ(fake_amdvi_dma(bdf, CELLS), 0);
	CHECK_EQ(fake_amdvi_dma(bdf, FAKE_AMDVI), 0);
}

static void check_cells(void)
{
	u32 i;

	for (i = 0; i < QV_MON_DEVICE_IRTES; i += 7)
		CHECK_EQ(fake_amdvi_message(OTHER, i),
			 (i & 0xff) < 32 ? 0 : CELLS_ID << 8 | (i & 0xff));
	for (i = 0; i < HUGES; i++)
		CHECK_EQ(fake_amdvi_dma(OTHER, huge[i]), 0);
	CHECK_EQ(fake_amdvi_dma(OTHER, 0x5000), CELLS + 0x5000);
	CHECK_EQ(fake_amdvi_dma(OTHER, FAKE_BLOCK), 0);
}

static void check(const u64 *block)
{
	const struct iommu_unit *u = &me()->iommu.units[0];

	check_device(DEVICE);
	check_device(LAST);
	if (given)
		check_cells();
	else
		check_device(OTHER);
	CHECK(!memcmp(block, fake_ram + FAKE_BLOCK + QV_BLOCK_FRONT_END - 8, 8));
	CHECK_EQ(fake_amdvi_reg64(AMDVI_DEVICES) & PT_ADDR, me()->iommu.root);
	CHECK_EQ(fake_amdvi_reg64(AMDVI_QUEUE) & PT_ADDR, u->queue);
	CHECK_EQ(fake_amdvi_reg64(AMDVI_EVENTS) & PT_ADDR, u->irt);
	CHECK(!(fake_amdvi_reg64(AMDVI_CONTROL) & AMDVI_OFF_FOR_US));
	CHECK(!(~fake_amdvi_reg64(AMDVI_CONTROL) & (AMDVI_ON | AMDVI_Q_ON | AMDVI_GA)));
}

/* Linux has everything again, as at the beginning */
static void returned(struct pcpu *cpu)
{
	u32 i;

	if (given)
		cell(cpu);
	for (i = 0; i < HUGES; i++)
		if (gone >> i & 1)
			linux_memory(huge[i], QV_HUGE, LINUX_ALL);
	gone = 0;
	me()->icr.own_cpus = (1u << FAKE_CPUS) - 1;
	memset(fake_ram + FAKE_AMDVI_IRT, 0, QV_MON_DEVICE_IRTES * 16);
	for (i = 0; i < 256; i++)
		fake_amdvi_device(i, DTE_VALID, 0, 0);
	fake_amdvi_device(DEVICE, DTE_VALID | DTE_OPEN, 7, FAKE_AMDVI_IRT);
	for (i = DEVICE; i <= LAST; i += 8)
		announce(cpu, i);
}

static void given_back(struct pcpu *cpu)
{
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_OK);
	CHECK_EQ(fake_amdvi_reg64(AMDVI_DEVICES) & PT_ADDR, FAKE_AMDVI_DEVICES);
	CHECK_EQ(fake_amdvi_reg64(AMDVI_QUEUE) & PT_ADDR, FAKE_AMDVI_RING);
	CHECK_EQ(fake_amdvi_reg64(AMDVI_EVENTS) & PT_ADDR, FAKE_AMDVI_EVENTS);
}

static struct pcpu *taken(u64 block)
{
	struct pcpu *cpu = fake_amdvi_open(false);
	struct paging io = {
		.pt_pool = &me()->pt_pool, .levels = 4, .max_leaf = 2, .amdvi = 1,
		.root = pt_take(&me()->pt_pool),
	};
	u32 i;

	CHECK_EQ(front_prepare(&me()->nested, CELLS, QV_HUGE), 0);
	for (i = 0; i < HUGES; i++)
		CHECK_EQ(front_prepare(&me()->nested, huge[i], QV_HUGE), 0);
	memcpy(fake_ram + FAKE_BLOCK + QV_BLOCK_FRONT_END - 8, &block, 8);
	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	linux_memory(CELLS, QV_HUGE, LINUX_NONE);
	CHECK(iommu_flush(cpu));
	CHECK(io.root && !paging_map(&io, 0, CELLS, QV_HUGE, me()->iommu.open));
	table = io.root;
	return cpu;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	static void (*const steps[])(struct pcpu *cpu, struct choices *c) = {
		requests, requests, requests, entry, entry, device, device, memory, cpus, cells,
		registers, events,
	};
	static struct pcpu *cpu;
	struct choices c = { data, len };
	u64 block = PATTERN;

	if (!cpu)
		cpu = taken(block);
	while (choices_left(&c)) {
		steps[choose(&c, sizeof(steps) / sizeof(steps[0]))](cpu, &c);
		check(&block);
	}
	returned(cpu);
	if (data && len > 64 && data[0] == 'g') {	/* seldom, since it takes long */
		given_back(cpu);
		cpu = NULL;
	}
	return 0;
}
