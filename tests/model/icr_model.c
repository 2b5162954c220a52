// SPDX-License-Identifier: GPL-2.0-only
#include "icr_model.h"
#include "unit.h"

u32 icr_word(const struct icr_fields *f)
{
	return f->vector | f->mode << 8 | f->logical << 11 | f->assert << 14 | f->level << 15 |
	       f->shorthand << 18;
}

/* Returns true if a local APIC accepts a message for @dest in logical destination mode */
static bool accepts_logical(const struct icr_map *map, u32 cpu, u32 dest)
{
	u32 id = map->apic_id[cpu], ldr;

	if (map->x2apic) {
		if (dest == 0xffffffff)
			return true;
		ldr = (id & 0xffff0) << 12 | 1u << (id & 0xf);
		return (dest & 0xffff0000) == (ldr & 0xffff0000) && (dest & ldr & 0xffff);
	}
	if (dest == 0xff)
		return true;
	ldr = map->ldr[cpu];
	if (!map->cluster)
		return (dest & ldr) != 0;
	return (dest & 0xf0) == (ldr & 0xf0) && (dest & ldr & 0x0f);
}

static bool is_meant(const struct icr_map *map, const struct icr_fields *f, u32 dest, u32 self,
		     u32 cpu)
{
	if (f->shorthand == 1)
		return cpu == self;
	if (f->shorthand == 2)
		return true;
	if (f->shorthand == 3)
		return cpu != self;
	if (f->logical)
		return accepts_logical(map, cpu, dest);
	if (dest == (map->x2apic ? 0xffffffff : 0xff))
		return true;
	return map->apic_id[cpu] == dest;
}

static u32 count(u64 mask)
{
	return __builtin_popcountll(mask);
}

void icr_model_check(const struct icr_map *map, const struct icr_fields *f, u32 dest, u32 self)
{
	enum { FIXED = 0, LOWEST = 1, SMI = 2, NMI = 4, INIT = 5, STARTUP = 6 };
	struct icr_verdict v = icr_filter(map, icr_word(f), dest, self);
	u64 meant = 0, ours, reach;
	u32 i;

	unit_case("%s mode %u %s short %u vector %#x level %u%u dest %#x self %u own %#lx:",
		  map->x2apic ? "x2APIC" : map->cluster ? "cluster" : "flat", f->mode,
		  f->logical ? "logical" : "physical", f->shorthand, f->vector, f->level, f->assert,
		  dest, self, map->own_cpus);
	for (i = 0; i < map->num && i < 64; i++)
		if (is_meant(map, f, dest, self, i))
			meant |= 1ull << i;
	ours = meant & map->own_cpus;

	/* the write names one CPU */
	CHECK_EQ(v.foreign, !f->shorthand && !f->logical && !ours);
	CHECK_EQ(v.targets & ~map->own_cpus, 0);
	switch (f->mode) {
	case FIXED:
	case NMI:
		reach = f->mode == FIXED && f->vector < 16 ? 0 : ours;
		CHECK_EQ(v.targets, reach);
		CHECK_EQ(v.action, reach ? ICR_SEND : ICR_DROP);
		break;
	case LOWEST:
		reach = f->vector < 16 ? 0 : ours;
		CHECK_EQ(v.targets & ~reach, 0);
		CHECK_EQ(count(v.targets), reach != 0);
		CHECK_EQ(v.action, reach ? ICR_SEND : ICR_DROP);
		break;
	case INIT:
	case STARTUP:
		reach = ours & ~(1ull << self);
		if (f->mode == INIT && f->level && !f->assert)
			reach = 0;
		CHECK_EQ(v.targets, reach);
		if (reach)
			CHECK_EQ(v.action, f->mode == INIT ? ICR_INIT : ICR_SIPI);
		if (reach && f->mode == STARTUP)
			CHECK_EQ(v.vector, f->vector);
		break;
	default:		/* delivery modes SMI, reserved and external interrupt */
		CHECK_EQ(v.action, ICR_DROP);
		CHECK_EQ(v.targets, 0);
	}
	/*
	 * The word for the real ICR must be edge, asserted, physical, one target, and fixed or NMI.
	 */
	if (v.action == ICR_SEND)
		CHECK_EQ(v.low, (f->mode == NMI ? 0x4400u : 0x4000u) | f->vector);
	/* A change of bits without a meaning must have no effect. */
	i = icr_filter(map, icr_word(f) | 0xfff32000u, dest, self).targets == v.targets;
	CHECK_EQ(i, 1);
}
