// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include "fake_amdvi.h"
#include "fake_vtd.h"
#include "iommu/amdvi.h"
#include "cross/iommu_tables.h"
#include "iommu/iommu.h"
#include "unit.h"

struct fake_amdvi_unit fake_amdvis[FAKE_AMDVIS];
u32 fake_amdvi_nr;

u32 *fake_amdvi_reg(u32 at)
{
	return &fake_amdvi.regs[at / 4];
}

u64 fake_amdvi_reg64(u32 at)
{
	return (u64)*fake_amdvi_reg(at + 4) << 32 | *fake_amdvi_reg(at);
}

static void put64(u32 at, u64 value)
{
	*fake_amdvi_reg(at) = value;
	*fake_amdvi_reg(at + 4) = value >> 32;
}

bool fake_amdvi_has(u64 pa)
{
	return pa - FAKE_AMDVI < FAKE_AMDVIS * FAKE_AMDVI_LEN;
}

static void flush_pages(u64 low, u64 high)
{
	u32 i;

	CHECK(!(low & 0x0fff0000ffffffffull) && !(high & 0xffc));
	for (i = 0; i < 64; i++)	/* with bit 0, all or a part: at least the page */
		if (fake_amdvi.domains[i] == (low >> 32 & 0xffff) &&
		    (high & 1 || (fake_amdvi.tags[i] & ~1ull) == (high & ~0xfffull)))
			fake_amdvi.tags[i] = 0;
}

static void request(u64 low, u64 high)
{
	u32 bdf = low & 0xffff, i;

	switch (low >> 60) {
	case AMDVI_WAIT:
		CHECK((low & 7) == 1);
		memcpy(fake_ram + (low & 0xffffffffffff8ull), &high, 8);
		break;
	case AMDVI_DEVICE:
		CHECK(!(low & 0x0fffffffffff0000ull) && !high);
		fake_amdvi.known[bdf & 0xff] = false;
		break;
	case AMDVI_PAGES:
		flush_pages(low, high);
		break;
	case AMDVI_INTERRUPTS:
		CHECK(!(low & 0x0fffffffffff0000ull) && !high);
		for (i = 0; i < 16; i++)
			if (fake_amdvi.whose[i] && (fake_amdvi.whose[i] - 1) >> 16 == bdf)
				fake_amdvi.whose[i] = 0;
		break;
	case AMDVI_ALL:
		CHECK(low == AMDVI_REQUEST(AMDVI_ALL) && !high);
		memset(fake_amdvi.known, 0, sizeof(fake_amdvi.known));
		memset(fake_amdvi.tags, 0, sizeof(fake_amdvi.tags));
		memset(fake_amdvi.whose, 0, sizeof(fake_amdvi.whose));
		break;
	default:
		CHECK_EQ(low, 0);
	}
}

static void changed(u32 at, bool last)
{
	u64 control = fake_amdvi_reg64(AMDVI_CONTROL), entry;
	u32 *status = fake_amdvi_reg(AMDVI_STATUS), *head = fake_amdvi_reg(AMDVI_HEAD);

	if (at == AMDVI_QUEUE && last)
		*head = *fake_amdvi_reg(AMDVI_TAIL) = 0;
	if (at == AMDVI_EVENTS && last)
		*fake_amdvi_reg(AMDVI_EV_HEAD) = *fake_amdvi_reg(AMDVI_EV_TAIL) = 0;
	/* the log of events stops when it is full, until it is switched off and on */
	*status = (*status & ~AMDVI_RUN) | (control & AMDVI_Q_ON ? 1u << 4 : 0) |
		  (control & AMDVI_EV_ON && !(*status & AMDVI_OVERFLOW) ? 1u << 3 : 0);
	while (control & AMDVI_Q_ON && *head != *fake_amdvi_reg(AMDVI_TAIL)) {
		entry = (fake_amdvi_reg64(AMDVI_QUEUE) & PT_ADDR) + *head;
		request(fake_word(entry), fake_word(entry + 8));
		*head = (*head + 16) & (AMDVI_LEN(fake_amdvi_reg64(AMDVI_QUEUE)) - 1);
	}
}

static u32 unit_of(u64 pa)
{
	return (pa - FAKE_AMDVI) / FAKE_AMDVI_LEN;
}

u32 fake_amdvi_load(u64 pa)
{
	struct fake_amdvi_unit *unit = &fake_amdvis[unit_of(pa)];

	unit->accesses++;
	return unit->regs[pa % FAKE_AMDVI_LEN / 4];
}

static void store(u32 at, u64 value, bool is_long)
{
	fake_amdvi.accesses++;
	if (fake_amdvi.dead)
		return;
	if (is_long)
		put64(at, value);
	else if (at == AMDVI_STATUS)
		*fake_amdvi_reg(at) &= ~(value & AMDVI_OVERFLOW);
	else
		*fake_amdvi_reg(at) = value;
	changed(at & ~7u, is_long || at & 4);
}

static void store_any(u64 pa, u64 value, bool is_long)
{
	u32 before = fake_amdvi_nr;

	fake_amdvi_nr = unit_of(pa);
	store(pa % FAKE_AMDVI_LEN, value, is_long);
	fake_amdvi_nr = before;
}

void fake_amdvi_store(u64 pa, u32 value)
{
	store_any(pa, value, false);
}

void __wrap_unit_set64(struct pcpu *cpu, const struct iommu_unit *u, u32 reg, u64 value);
void __wrap_unit_set64(struct pcpu *cpu, const struct iommu_unit *u, u32 reg, u64 value)
{
	if (fake_amdvi_has(u->pa))
		store_any(u->pa + reg, value, true);
	else
		fake_vtd_store64(u->pa + reg, value);
}

static const u64 *device_of(u32 bdf)
{
	u64 devices = fake_amdvi_reg64(AMDVI_DEVICES);
	u32 i;

	CHECK(bdf < 256 && bdf * 32 < ((devices & 0x1ff) + 1) * QV_PAGE);
	for (i = 0; i < 4 && !fake_amdvi.known[bdf]; i++)
		fake_amdvi.device[bdf][i] = fake_word((devices & PT_ADDR) + bdf * 32 + 8 * i);
	fake_amdvi.known[bdf] = true;
	return fake_amdvi.device[bdf];
}

u64 fake_amdvi_dma(u32 bdf, u64 address)
{
	const u64 *device = device_of(bdf);
	u32 slot = address >> 12 & 63, level = DTE_MODE(device[0]), domain = device[1] & 0xffff;
	u64 entry = device[0], size;

	CHECK(!(entry & 0x9ff000000000007cull));	/* no reserved bit, no guest's tables */
	if ((entry & DTE_VALID) != DTE_VALID)
		return address;
	if ((entry & DTE_OPEN) != DTE_OPEN)
		return 0;
	if (!level)
		return address;
	if (fake_amdvi.tags[slot] == ((address & ~0xfffull) | 1) &&
	    fake_amdvi.domains[slot] == domain)
		return fake_amdvi.pages[slot] | (address & 0xfff);
	for (; level; level--) {
		entry = fake_word((entry & PT_ADDR) + (address >> (9 * level) & 0xff8));
		if (!(entry & 1) || (entry & DTE_OPEN) != DTE_OPEN)
			return 0;
		CHECK(!(entry & 0x07f0000000000000ull));
		if (!DTE_MODE(entry))
			break;
		CHECK_EQ(DTE_MODE(entry), level - 1);
	}
	size = level_size(level);
	fake_amdvi.tags[slot] = (address & ~0xfffull) | 1;
	fake_amdvi.domains[slot] = domain;
	fake_amdvi.pages[slot] = ((entry & PT_ADDR & ~(size - 1)) | (address & (size - 1))) &
				 ~0xfffull;
	return fake_amdvi.pages[slot] | (address & 0xfff);
}

u64 fake_amdvi_message(u32 bdf, u32 data)
{
	u64 remap = device_of(bdf)[2], *entry;
	u32 index = data & 0x7ff;

	CHECK(remap & 1);			/* else it passes as it is */
	if (!(remap & DTE_BY_IRT) || index >= DTE_IRTES(remap))
		return 0;
	entry = fake_amdvi.irtes[index % 16];
	if (fake_amdvi.whose[index % 16] != (bdf << 16 | index) + 1) {
		entry[0] = fake_word(DTE_IRT(remap) + 16 * index);
		entry[1] = fake_word(DTE_IRT(remap) + 16 * index + 8);
		fake_amdvi.whose[index % 16] = (bdf << 16 | index) + 1;
	}
	return entry[0] & 1 ? (entry[0] >> 8 & 0xffffff) << 8 | (entry[1] & 0xff) : 0;
}

void fake_amdvi_event(u64 low, u64 high)
{
	u32 *tail = fake_amdvi_reg(AMDVI_EV_TAIL);
	u64 at = (fake_amdvi_reg64(AMDVI_EVENTS) & PT_ADDR) + *tail;

	memcpy(fake_ram + at, &low, 8);
	memcpy(fake_ram + at + 8, &high, 8);
	*tail = (*tail + 16) & (AMDVI_LEN(fake_amdvi_reg64(AMDVI_EVENTS)) - 1);
}

void fake_amdvi_device(u32 bdf, u64 low, u64 high, u64 irt)
{
	u64 entry[4] = { low, high, irt ? irt | 1 | 9 << 1 | DTE_BY_IRT : 1 };

	memcpy(fake_ram + FAKE_AMDVI_DEVICES + 32 * bdf, entry, 32);
}

static void open_unit(void)
{
	struct qv_mon_iommus *units = &me()->boot.iommus;

	put64(AMDVI_DEVICES, FAKE_AMDVI_DEVICES | 1);
	put64(AMDVI_QUEUE, FAKE_AMDVI_RING_OF(fake_amdvi_nr) | 9ull << 56);
	put64(AMDVI_EVENTS, FAKE_AMDVI_EVENTS | 9ull << 56);
	*fake_amdvi_reg(AMDVI_HEAD) = *fake_amdvi_reg(AMDVI_TAIL) = 300 * 16;
	*fake_amdvi_reg(AMDVI_EV_HEAD) = *fake_amdvi_reg(AMDVI_EV_TAIL) = 32;
	put64(AMDVI_CONTROL, AMDVI_ON | AMDVI_EV_ON | 1 << 3 | AMDVI_Q_ON | AMDVI_GA |
	      1ull << 28 | AMDVI_WIDE);
	put64(AMDVI_MESSAGES, 0x123456789aull);
	*fake_amdvi_reg(AMDVI_STATUS) = AMDVI_RUN;
	units->units[fake_amdvi_nr].pa = FAKE_AMDVI_AT(fake_amdvi_nr);
	units->units[fake_amdvi_nr].len = FAKE_AMDVI_LEN;
}

struct pcpu *fake_amdvi_open_many(bool translating, u32 num)
{
	struct qv_mon_iommus *units = &me()->boot.iommus;
	u32 i;

	fake_open(true, true);
	memset(fake_amdvis, 0, sizeof(fake_amdvis));
	memset(fake_ram + FAKE_AMDVI_DEVICES, 0, 8192);
	memset(fake_ram + FAKE_AMDVI_IRT, 0, 8192);
	for (i = 0; i < 256; i++)
		fake_amdvi_device(i, DTE_VALID, 0, 0);
	/* a table of Linux with five levels, whose pages are of 2 MiB: see test_amdvi.c */
	fake_amdvi_device(0x80, DTE_VALID | DTE_OPEN | (translating ? 2 << 9 | 13u << 20 : 0), 7,
			  FAKE_AMDVI_IRT);
	me()->boot.tsc_khz = 1u << 20;		/* long deadlines */
	memset(units, 0, sizeof(*units));
	units->num = num;
	units->amd = units->num_ids = 1;
	units->domain = FAKE_AMDVI_DOMAIN;
	units->translated = translating ? (1u << num) - 1 : 0;
	units->device_pages = units->num_irts = 2;
	units->num_dma_holes = 1;
	units->dma_holes[0].start = 0xfec00000;
	units->dma_holes[0].end = 1ull << 32;
	for (fake_amdvi_nr = 0; fake_amdvi_nr < num; fake_amdvi_nr++)
		open_unit();
	fake_amdvi_nr = 0;
	CHECK_EQ(iommu_tables(me()), 0);
	amdvi_ids()->ids[0] = 0x80;
	return pcpu_of(0);
}

struct pcpu *fake_amdvi_open(bool translating)
{
	return fake_amdvi_open_many(translating, 1);
}

void fake_amdvi_request(struct pcpu *cpu, u64 low, u64 high)
{
	struct iommu_unit *u = &me()->iommu.units[0];
	u32 at = u->linux_tail;

	memcpy(fake_ram + FAKE_AMDVI_RING + at, &low, 8);
	memcpy(fake_ram + FAKE_AMDVI_RING + at + 8, &high, 8);
	amdvi_ops.write(cpu, u, AMDVI_TAIL, (at + 16) & 8191);
}
