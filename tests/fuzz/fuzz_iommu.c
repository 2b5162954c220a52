// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hostile Linux and a VT-d unit that the monitor owns: requests in Linux's queue, entries of
 * interrupts, writes to registers, while memory and CPUs leave Linux and return. After each step
 * the unit, with all that it has cached, must reach Linux's memory and Linux's CPUs only. The fake
 * unit ends the run at a request that no unit knows, or that asks for an interrupt.
 */
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "choices.h"
#include "fake_vtd.h"
#include "fuzz.h"
#include "iommu_linux.h"
#include "iommu/iommu.h"
#include "iommu/vtd.h"
#include "tables/nested.h"
#include "unit.h"

#define PATTERN	0x5ec2e75ec2e7ull
#define PROBES	8u			/* words at the start of a page that are looked at */

static u64 secret[HUGES][PROBES];	/* its first words then */

static u64 any_place(struct choices *c)
{
	static const u64 near[] = {
		FAKE_STATUS, FAKE_BLOCK, FAKE_BLOCK + QV_BLOCK_FRONT_END - 4, FAKE_UNIT + VTD_GCMD,
		FAKE_RAM - 4, FAKE_RAM, 0xfee00000, 1ull << 52,
	};

	return any_address(c, near, sizeof(near) / 8);
}

static u64 any_request(struct choices *c)
{
	static const u32 flags[] = {
		0, VTD_GLOBAL, VTD_WAIT_IRQ, VTD_WAIT_STORE, VTD_WAIT_STORE | VTD_WAIT_FENCE,
	};
	u64 kind = choose(c, 11), low = flags[choose(c, sizeof(flags) / 4)];

	if (kind == 10)
		return choose(c, ~0ull);
	return low | kind | choose(c, 32) << 27 | choose(c, 20) << 32;
}

static void requests(struct pcpu *cpu, struct choices *c)
{
	struct iommu_unit *u = &me()->iommu.units[0];
	u32 at = u->linux_tail, num = choose(c, 8);

	for (; num; num--, at = (at + fake_vtd_request()) % u->ring_len) {
		u64 low = any_request(c);

		linux_writes(FAKE_RING + at, low, any_place(c));
	}
	vtd_write(cpu, u, VTD_IQT, choose(c, 16) ? at : choose(c, 2 * u->ring_len));
}

static u64 any_entry(struct choices *c)
{
	static const u64 flags[] = { 0, 1 << 2, 1 << 3, 1 << 4, 1 << 5, 4 << 5, 1 << 15, 1 << 24 };
	u64 dest = choose(c, 10);

	switch (choose(c, 8)) {
	case 0:
		dest = choose(c, 1ull << 32);
		break;
	case 1:				/* two members of a cluster */
		dest = 1u << choose(c, 16) | 1u << choose(c, 16) | choose(c, 2) << 16;
		break;
	}
	return !!choose(c, 8) | choose(c, 48) << 16 | dest << 32 |
	       flags[choose(c, sizeof(flags) / 8)] | flags[choose(c, sizeof(flags) / 8)];
}

/*
 * Returns true if a unit may use this entry. VT-d 3.3, 9.9; x2APIC ids, in clusters of 16. The
 * second half names the devices.
 */
static bool allowed(u64 low, u64 high)
{
	u64 dest = low >> 32;

	/* reserved bits; a mode other than fixed and lowest priority; an exception's vector */
	if (low & 0xff00ff00 || high >> 20 || (low >> 5 & 7) > 1 || (low >> 16 & 0xff) < 16)
		return false;
	return linux_only(dest, low & 1 << 2);
}

/* Puts one request into Linux's queue */
static void ask(struct pcpu *cpu, u64 low, u64 high)
{
	struct iommu_unit *u = &me()->iommu.units[0];

	linux_writes(FAKE_RING + u->linux_tail, low, high);
	vtd_write(cpu, u, VTD_IQT, (u->linux_tail + fake_vtd_request()) % u->ring_len);
}

/* An entry changes, and mostly Linux says so */
static void entry(struct pcpu *cpu, struct choices *c)
{
	u32 index = choose(c, 16);
	u64 low = choose(c, 8) ? any_entry(c) : choose(c, ~0ull);
	u64 high = choose(c, 4) ? 0x40080 : choose(c, ~0ull);

	linux_writes(FAKE_IRT + index * 16, low, high);
	if (!choose(c, 4) || !linux_has(FAKE_RING) || !linux_has(FAKE_IRT))
		return;
	ask(cpu, VTD_INTERRUPTS | VTD_SOME | (u64)index << 32, 0);
	ask(cpu, VTD_WAIT | VTD_WAIT_STORE, FAKE_STATUS);
	CHECK_EQ(fake_vtd_message(index), low & 1 && allowed(low, high) ? low : 0);
}

static void memory(struct pcpu *cpu, struct choices *c)
{
	u32 i = choose(c, HUGES);

	if (!(gone >> i & 1))
		memcpy(secret[i], fake_ram + huge[i], sizeof(secret[i]));
	linux_memory(huge[i], QV_HUGE, gone >> i & 1 ? LINUX_ALL : LINUX_NONE);
	gone ^= 1u << i;
	CHECK(iommu_flush(cpu));
}

static void cpus(struct pcpu *cpu, struct choices *c)
{
	me()->icr.own_cpus ^= 1ull << (1 + choose(c, FAKE_CPUS - 1));
	CHECK(iommu_flush(cpu));
}

static void registers(struct pcpu *cpu, struct choices *c)
{
	u32 reg = choose(c, 64) * 4;

	if (reg != VTD_IQT)
		vtd_write(cpu, &me()->iommu.units[0], reg, choose(c, 1ull << 32));
	(void)unit_read(cpu, &me()->iommu.units[0], reg);
}

static void check(const u8 *block)
{
	const struct iommu_unit *u = &me()->iommu.units[0];
	u64 low;
	u32 i;

	for (i = 0; i < 16; i++) {
		low = fake_vtd_message(i);
		CHECK(!low || allowed(low, fake_vtd.irtes[i][1]));
	}
	for (i = 0; i < HUGES; i++) {
		CHECK_EQ(fake_vtd_dma(huge[i] + 8), gone >> i & 1 ? 0 : huge[i] + 8);
		if (gone >> i & 1)
			CHECK(!memcmp(secret[i], fake_ram + huge[i], sizeof(secret[i])));
	}
	CHECK_EQ(fake_vtd_dma(FAKE_BLOCK), 0);
	CHECK(!memcmp(block, fake_ram + FAKE_BLOCK + QV_BLOCK_FRONT_END - 8, 8));
	CHECK_EQ(fake_vtd.root, me()->iommu.root | VTD_MODE);
	CHECK_EQ(fake_vtd.irta & PT_ADDR, u->irt);
	CHECK_EQ(*fake_vtd_reg(VTD_IQA) & ~0xfffu, (u32)u->queue);
	CHECK_EQ(*fake_vtd_reg(VTD_FECTL), VTD_MASKED);
	CHECK_EQ(*fake_vtd_reg(VTD_GSTS) & VTD_LASTING, VTD_TE | VTD_QIE | VTD_IRE);
}

/* Linux has everything again */
static void returned(struct pcpu *cpu)
{
	u32 i;

	for (i = 0; i < HUGES; i++)
		if (gone >> i & 1)
			linux_memory(huge[i], QV_HUGE, LINUX_ALL);
	gone = 0;
	me()->icr.own_cpus = (1u << FAKE_CPUS) - 1;
	memset(fake_ram + FAKE_IRT, 0, 16 * 16);
	ask(cpu, VTD_INTERRUPTS, 0);
}

static void given_back(struct pcpu *cpu)
{
	CHECK_EQ(call_iommu(cpu, QV_IOMMU_GIVE, 0), QV_ME_OK);
	CHECK_EQ(fake_vtd.root, FAKE_ROOT | VTD_MODE);
	CHECK_EQ(fake_vtd.irta & PT_ADDR, FAKE_IRT);
	CHECK_EQ(*fake_vtd_reg(VTD_IQA) & ~0xfffu, FAKE_RING);
}

static struct pcpu *taken(u64 block)
{
	struct pcpu *cpu = fake_vtd_open(true);
	u32 i;

	for (i = 0; i < HUGES; i++)
		CHECK_EQ(front_prepare(&me()->nested, huge[i], QV_HUGE), 0);
	memcpy(fake_ram + FAKE_BLOCK + QV_BLOCK_FRONT_END - 8, &block, 8);
	*fake_vtd_reg(VTD_IRTA) = fake_vtd.irta = FAKE_IRT | VTD_WIDE | 4;	/* 32 entries */
	CHECK_EQ(fake_take(cpu), QV_ME_OK);
	return cpu;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	static void (*const steps[])(struct pcpu *cpu, struct choices *c) = {
		requests, requests, requests, entry, entry, entry, memory, cpus, registers,
	};
	static struct pcpu *cpu;
	struct choices c = { data, len };
	u64 block = PATTERN;

	if (!cpu) {
		fake_vtd_stage = len ? data[0] % 3 : 0;
		cpu = taken(block);
	}
	while (choices_left(&c)) {
		steps[choose(&c, sizeof(steps) / sizeof(steps[0]))](cpu, &c);
		check((const u8 *)&block);
	}
	returned(cpu);
	if (data && len > 64 && data[0] == 'g') {	/* seldom, since it takes long */
		given_back(cpu);
		cpu = NULL;
	}
	return 0;
}
