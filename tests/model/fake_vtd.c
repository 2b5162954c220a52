// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include "abi/calls.h"
#include "abi/errors.h"
#include "core/pci.h"
#include "fake_amdvi.h"
#include "fake_vtd.h"
#include "cross/iommu_tables.h"
#include "iommu/iommu.h"
#include "iommu/vtd.h"
#include "unit.h"

#define FAKE_CAP	((FAKE_FAULTS / 16ull) << 24)

#define FAKE_PIOTLB	(VTD_PASID_IOTLB | 0x30 | VTD_DOMAIN | VTD_PASID)
#define STAGE(pasid)	((u32)((pasid) >> 6 & 7))
enum { FIRST = 1, SECOND, NESTED, IDENTITY };
#define USED		(3ull << 5)	/* first stage: accessed, written */

struct fake_vtd_unit fake_vtds[FAKE_UNITS];
u32 fake_vtd_nr;
u32 fake_vtd_stage;

u32 *fake_vtd_reg(u32 at)
{
	return &fake_vtd.regs[at / 4];
}

static u64 reg64(u32 at)
{
	return (u64)*fake_vtd_reg(at + 4) << 32 | *fake_vtd_reg(at);
}

static bool is_scalable(void)
{
	return fake_vtd.root & 0x400;
}

/*
 * Translations that @stage has found; with global granularity, all. Those by nested tables go with
 * the second stage; by PASIDs they would go, too, but Linux does not know these (VT-d 3.3, 6.5.2)
 */
static void flush(u64 low, u64 high, u32 stage)
{
	u32 i;

	/* by page, for which a unit may have limits, nothing is flushed */
	CHECK((VTD_GRANULARITY(low) == 1 || VTD_GRANULARITY(low) == 2) && !high);
	for (i = 0; i < 64; i++)
		if (VTD_GRANULARITY(low) == 1 ||
		    (fake_vtd.domains[i] == (low >> 16 & 0xffff) &&
		     (fake_vtd.stages[i] == NESTED ? SECOND : fake_vtd.stages[i]) == stage))
			fake_vtd.tags[i] = 0;
}

static void request(u64 low, u64 high)
{
	u32 value = low >> 32;

	switch (low & 0xf) {
	case VTD_CONTEXTS:
		memset(fake_vtd.context, 0, sizeof(fake_vtd.context));
		break;
	case VTD_IOTLB:
		CHECK(!(low & ~(VTD_DOMAIN | VTD_DRAIN | 0x3f)));
		flush(low, high, SECOND);
		break;
	case VTD_PASIDS:
		CHECK(is_scalable());
		CHECK_EQ(low, VTD_PASIDS | VTD_ALL_PASIDS);
		memset(fake_vtd.pasid, 0, sizeof(fake_vtd.pasid));
		break;
	case VTD_PASID_IOTLB:
		CHECK(is_scalable() && !(low & ~FAKE_PIOTLB) && VTD_GRANULARITY(low) >= 2);
		if (!(low & VTD_PASID))
			flush(low, high, FIRST);
		break;
	case VTD_INTERRUPTS:
		fake_vtd.interrupts++;
		memset(fake_vtd.cached, 0, sizeof(fake_vtd.cached));
		break;
	case VTD_WAIT:
		CHECK(!(low & VTD_WAIT_IRQ));
		if (low & VTD_WAIT_STORE)
			memcpy(fake_ram + high, &value, 4);
		break;
	default:
		CHECK_EQ(low, 0);		/* a request that no unit knows */
	}
}

static void queue(void)
{
	while (*fake_vtd_reg(VTD_GSTS) & VTD_QIE &&
	       *fake_vtd_reg(VTD_IQH) != *fake_vtd_reg(VTD_IQT)) {
		u64 iqa = reg64(VTD_IQA), at = (iqa & ~0xfffull) + *fake_vtd_reg(VTD_IQH);
		u32 len = VTD_IS_LONG(iqa) ? 32 : 16, all = QV_PAGE << (iqa & 7);

		request(fake_word(at), fake_word(at + 8));
		CHECK(len == 16 || !(fake_word(at + 16) | fake_word(at + 24)));
		*fake_vtd_reg(VTD_IQH) = (*fake_vtd_reg(VTD_IQH) + len) & (all - 1);
	}
}

static void command(u32 value)
{
	if (value & VTD_SRTP)
		fake_vtd.root = reg64(VTD_RTADDR);
	if (value & VTD_SIRTP)
		fake_vtd.irta = reg64(VTD_IRTA);
	*fake_vtd_reg(VTD_GSTS) = (value & (VTD_LASTING | VTD_ONCE)) |
				  (*fake_vtd_reg(VTD_GSTS) & VTD_ONCE);
	if (!(value & VTD_QIE))
		*fake_vtd_reg(VTD_IQH) = 0;
}

static bool is_unit(u64 pa)
{
	return pa - FAKE_UNIT_AT(0) < me()->boot.iommus.num * QV_PAGE;
}

u32 __real_device_read(struct pcpu *cpu, u64 pa);
u32 __wrap_device_read(struct pcpu *cpu, u64 pa);
u32 __wrap_device_read(struct pcpu *cpu, u64 pa)
{
	struct fake_vtd_unit *unit;

	if (fake_amdvi_has(pa))
		return fake_amdvi_load(pa);
	if (!is_unit(pa))
		return __real_device_read(cpu, pa);
	unit = &fake_vtds[(pa - FAKE_UNIT_AT(0)) / QV_PAGE];
	unit->accesses++;
	return unit->regs[pa % QV_PAGE / 4];
}

static void store(u32 at, u32 value)
{
	fake_vtd.accesses++;
	if (fake_vtd.dead)
		return;
	if (at == VTD_GCMD)
		command(value);
	else if (at == VTD_FSTS)
		*fake_vtd_reg(at) &= ~value;
	else if (at == FAKE_FAULTS + 12)
		*fake_vtd_reg(at) &= ~(value & VTD_FAULT);
	else
		*fake_vtd_reg(at) = value;
	queue();
}

void __real_device_write(struct pcpu *cpu, u64 pa, u32 value);
void __wrap_device_write(struct pcpu *cpu, u64 pa, u32 value);
void __wrap_device_write(struct pcpu *cpu, u64 pa, u32 value)
{
	u32 at = pa % QV_PAGE, before = fake_vtd_nr;

	if (fake_amdvi_has(pa)) {
		fake_amdvi_store(pa, value);
		return;
	}
	if (!is_unit(pa)) {
		__real_device_write(cpu, pa, value);
		return;
	}
	fake_vtd_nr = (pa - FAKE_UNIT_AT(0)) / QV_PAGE;
	store(at, value);
	fake_vtd_nr = before;
}

void fake_vtd_store64(u64 pa, u64 value)
{
	struct fake_vtd_unit *unit = &fake_vtds[(pa - FAKE_UNIT_AT(0)) / QV_PAGE];

	CHECK(is_unit(pa));
	unit->accesses++;
	if (!unit->dead)
		memcpy(&unit->regs[pa % QV_PAGE / 4], &value, 8);
}

/* Returns the entry of the function; NULL: it is absent, which is not cached (VT-d 3.3, 6.1) */
static const u64 *context_by(u32 bdf)
{
	u64 *context = fake_vtd.context[bdf & 0xff], root, at;
	u32 len = is_scalable() ? 32 : 16, i;

	if (fake_vtd.function[bdf & 0xff] != bdf || !(context[0] & 1)) {
		root = (fake_vtd.root & PT_ADDR) +
		       (is_scalable() ? 8 * (bdf >> 7) : 16 * (bdf >> 8));
		at = (fake_word(root) & PT_ADDR) + bdf * len % QV_PAGE;
		for (i = 0; i < 4; i++)
			context[i] = fake_word(root) & 1 && 8 * i < len ? fake_word(at + 8 * i) : 0;
		fake_vtd.function[bdf & 0xff] = bdf;
	}
	return context[0] & 1 ? context : NULL;
}

/* Scalable mode: returns the entry of PASID 0, or NULL */
static const u64 *pasid_by(u32 bdf, const u64 *context)
{
	u64 *pasid = fake_vtd.pasid[bdf & 0xff], table, number = context[1];
	u32 i;

	/* tables of PASIDs alone: nothing reserved, no ATS, no PRI; a PASID of the directory */
	CHECK(!(context[0] & 0x1fc) && !context[2] && !context[3]);
	CHECK(number < 8192ull << (context[0] >> 9 & 7) && (FAKE_NESTED || !number));
	if (fake_vtd.pasid_function[bdf & 0xff] != bdf || !(pasid[0] & 1)) {
		table = fake_word((context[0] & PT_ADDR) + 8 * (number / 64));
		for (i = 0; i < 4; i++)
			pasid[i] = !(table & 1) ? 0 :
				   fake_word((table & PT_ADDR) + 64 * (number % 64) + 8 * i);
		fake_vtd.pasid_function[bdf & 0xff] = bdf;
	}
	return pasid[0] & 1 ? pasid : NULL;
}

u64 fake_vtd_dma(u64 pa)
{
	return fake_vtd_dma_of(0, pa);
}

/*
 * Returns the address to which @levels levels of tables lead, or 0. With a table @second of the
 * second stage, the addresses of the tables and the result pass it; it must permit writes
 */
static u64 walk(u64 entry, u64 address, u32 levels, u32 stage, u64 second)
{
	u32 level;

	for (level = levels; level; level--) {
		u64 at = (entry & PT_ADDR) + (address >> 9 * level & 0xff8), used, pa;
		u64 inside = level_size(level) - 1;

		at = second ? walk(second, at, 4, SECOND, 0) : at;
		entry = at ? fake_word(at) : 0;
		if (!(entry & 1))
			return 0;
		CHECK_EQ(entry & 3, 3);
		used = entry | (level == 1 || entry & PT_PS ? USED : USED & -USED);
		if (stage == FIRST) {
			CHECK(entry & PT_U);
			memcpy(fake_ram + at, &used, 8);
		}
		if (level > 1 && !(entry & PT_PS))
			continue;
		pa = (entry & PT_ADDR & ~inside) | (address & inside);
		return second ? walk(second, pa, 4, SECOND, 0) : pa;
	}
	return 0;
}

/* The same for the function with this context, or entry of a PASID, which has no reserved bit */
static u64 walk_for(const u64 *entry, u32 stage, u64 address)
{
	u32 levels = 4;

	if (!is_scalable()) {
		CHECK((entry[0] & 0xf) == 1 && (entry[1] & 7) == 2);
		return walk(entry[0], address, 4, SECOND, 0);
	}
	CHECK(stage == FIRST || stage == SECOND || stage == NESTED);
	CHECK_EQ(entry[0] >> 2 & 7, 2);			/* four levels of the second stage */
	CHECK(!(entry[0] & 0xe20) && !(entry[1] & ~(3ull << 23 | 0xffff)) && !entry[3]);
	if (stage == SECOND) {
		CHECK(!entry[2]);
		return walk(entry[0], address, 4, SECOND, 0);
	}
	if (stage == NESTED && entry[2] & 0xff3)	/* the unit lacks what these bits ask for */
		return 0;
	CHECK(stage == NESTED || (!(entry[2] & 0xfff) && !(entry[0] & PT_ADDR)));
	levels += entry[2] >> 2 & 3;
	return levels > 5 ? 0 : walk(entry[2], address, levels, FIRST,
				     stage == NESTED ? entry[0] & PT_ADDR : 0);
}

u64 fake_vtd_dma_of(u32 bdf, u64 pa)
{
	u32 slot = pa >> 12 & 63, domain, stage = SECOND;
	const u64 *entry;
	u64 page;

	if (!(*fake_vtd_reg(VTD_GSTS) & VTD_TE))
		return pa;
	entry = context_by(bdf);
	if (entry && is_scalable())
		entry = pasid_by(bdf, entry);
	if (!entry)
		return 0;
	if (is_scalable())
		stage = STAGE(entry[0]);
	if (stage == IDENTITY)
		return pa;
	domain = is_scalable() ? entry[1] & 0xffff : entry[1] >> 8 & 0xffff;
	if (fake_vtd.tags[slot] == ((pa & ~0xfffull) | 1) && fake_vtd.domains[slot] == domain)
		return fake_vtd.pages[slot] | (pa & 0xfff);
	CHECK(domain);
	page = walk_for(entry, stage, pa & ~0xfffull);
	if (!page && pa >> 12)
		return 0;
	fake_vtd.tags[slot] = (pa & ~0xfffull) | 1;
	fake_vtd.domains[slot] = domain;
	fake_vtd.stages[slot] = stage;
	fake_vtd.pages[slot] = page;
	return page | (pa & 0xfff);
}

u64 fake_vtd_message(u32 index)
{
	u64 at = (fake_vtd.irta & PT_ADDR) + index * 16ull;

	CHECK(index < VTD_IRTES(fake_vtd.irta));
	if (!fake_vtd.cached[index % 16] || fake_vtd.which[index % 16] != index) {
		fake_vtd.irtes[index % 16][0] = fake_word(at);
		fake_vtd.irtes[index % 16][1] = fake_word(at + 8);
		fake_vtd.which[index % 16] = index;
		/* an absent entry is not cached: VT-d 3.3, 6.1 */
		fake_vtd.cached[index % 16] = fake_vtd.irtes[index % 16][0] & 1;
	}
	return fake_vtd.irtes[index % 16][0] & 1 ? fake_vtd.irtes[index % 16][0] : 0;
}

u64 fake_vtd_interrupt(u32 bdf, u32 address, u32 data)
{
	u32 index = (address >> 5 & 0x7fff) | (address & 4) << 13;
	u64 low, high;

	CHECK_EQ(address >> 20, 0xfee);
	CHECK_EQ(*fake_vtd_reg(VTD_GSTS) & (VTD_IRE | VTD_CFI), VTD_IRE);
	if (!(address & 0x10))			/* the compatible format */
		return 0;
	if (address & 8)
		index += data & 0xffff;
	if (data >> 16 || index >= VTD_IRTES(fake_vtd.irta))
		return 0;
	low = fake_vtd_message(index);
	high = fake_vtd.irtes[index % 16][1];
	/* bits 19..18: 1 if the source is checked, and by bits 17..16 all of it */
	if (!low || ((high >> 18 & 3) == 1 && (high & 0x3ffff) != bdf))
		return 0;
	CHECK(!(low & 0xff00fffe) && !(high >> 20));	/* fixed, edge, one CPU; nothing reserved */
	low = fake_vtd.irta & VTD_WIDE ? low : (low >> 40 & 0xff) << 32 | (u32)low;
	return low >> 32 << 8 | (low >> 16 & 0xff);
}

static void open_unit(bool translating)
{
	struct qv_mon_iommus *units = &me()->boot.iommus;

	*fake_vtd_reg(VTD_CAP) = (u32)FAKE_CAP;
	*fake_vtd_reg(VTD_CAP + 4) = FAKE_CAP >> 32;
	*fake_vtd_reg(VTD_RTADDR) = FAKE_ROOT | (fake_vtd_stage && translating ? 0x400 : 0);
	*fake_vtd_reg(VTD_IQA) = FAKE_RING_OF(fake_vtd_nr) | (fake_vtd_stage ? VTD_LONG : 0);
	*fake_vtd_reg(VTD_IRTA) = fake_vtd.irta = FAKE_IRT_OF(fake_vtd_nr) | VTD_WIDE | 9;
	memset(fake_ram + FAKE_IRT_OF(fake_vtd_nr), 0, 65536);
	*fake_vtd_reg(VTD_IQH) = *fake_vtd_reg(VTD_IQT) = 5 * fake_vtd_request();
	*fake_vtd_reg(VTD_FECTL) = 0;
	*fake_vtd_reg(0x40) = 0xfee00000;
	*fake_vtd_reg(VTD_GSTS) = VTD_QIE | VTD_IRE | VTD_ONCE | (translating ? VTD_TE : 0);
	units->units[fake_vtd_nr].pa = FAKE_UNIT_AT(fake_vtd_nr);
	units->units[fake_vtd_nr].len = QV_PAGE;
	units->num = fake_vtd_nr + 1;
}

void (*fake_between)(void);

u64 fake_take(struct pcpu *cpu)
{
	u32 limit = QV_MON_IOMMUS * (QV_MON_IO_IDS + 2);
	u64 result;

	do {
		if (fake_between)
			fake_between();
		result = call_iommu(cpu, QV_IOMMU_TAKE, 0);
	} while (result == QV_ME_BUSY && --limit);
	return result;
}

void fake_vtd_prepare(bool translating)
{
	struct instance *inst = me();

	fake_open(true, true);
	memset(fake_vtds, 0, sizeof(fake_vtds));
	fake_vtd_nr = 0;
	open_unit(translating);
	inst->boot.tsc_khz = 1u << 20;		/* long deadlines */
	inst->boot.iommus.domain = FAKE_DOMAIN;
	inst->boot.iommus.stage = FAKE_NESTED ? 2 : fake_vtd_stage;
	inst->boot.iommus.nested = 0;
	inst->boot.iommus.num_dma_holes = 2;
	inst->boot.iommus.dma_holes[0].start = 0xfec00000;
	inst->boot.iommus.dma_holes[0].end = 1ull << 32;
	inst->boot.iommus.dma_holes[1].start = 0xa0000;
	inst->boot.iommus.dma_holes[1].end = 0xc0000;
}

void fake_vtd_more(u32 num)
{
	bool translating = *fake_vtd_reg(VTD_GSTS) & VTD_TE;

	for (fake_vtd_nr = 1; fake_vtd_nr < num; fake_vtd_nr++)
		open_unit(translating);
	fake_vtd_nr = 0;
}

struct pcpu *fake_vtd_open(bool translating)
{
	fake_vtd_prepare(translating);
	CHECK_EQ(iommu_tables(me()), 0);
	return pcpu_of(0);
}

u32 fake_vtd_request(void)
{
	return fake_vtd_stage ? 32 : 16;
}

void fake_vtd_put(u32 at, u64 low, u64 high)
{
	memset(fake_ram + FAKE_RING + at, 0xa5, fake_vtd_request());
	memcpy(fake_ram + FAKE_RING + at, &low, 8);
	memcpy(fake_ram + FAKE_RING + at + 8, &high, 8);
}
