// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property: no accepted write of the ICR reaches a foreign CPU. icr_filter() names only CPUs of the
 *	sender's instance that the write addresses. An IPI is fixed or NMI, to one physical
 *	destination, without shorthand
 * Bound: none: 64 CPUs, any ids, any map, any 64 bits of ICR, xAPIC and x2APIC, flat and cluster
 * Assumed: num <= 64, own CPUs are below num, self < 64, since the instance numbers its CPUs so; in
 *	xAPIC mode destinations and logical ids are bytes, as in the registers
 * Enough: 64 is ICR_CPUS, the limit of an instance
 * Code: hypervisor/core/icr.c
 * Options: --unwind 65
 * Quick: yes
 * Mutation: hypervisor/core/icr.c: `return hit & map->own_cpus;` -> `return hit;`: foreign CPUs are
 *	reached
 * Mutation: hypervisor/core/icr.c: `if (shorthand == SHORT_OTHERS || mode >= MODE_INIT)` ->
 *	`if (mode >= MODE_INIT)`: the shorthand for others includes the sender
 * Mutation: hypervisor/core/icr.c: `v.low = v.vector | ` -> `v.low = (low & 0xfff) | `: modes and
 *	logical destinations are not filtered
 * Mutation: hypervisor/core/icr.c: `i < map->num && i < ICR_CPUS` -> `i <= map->num`: a CPU beyond
 *	the last is reached
 * Mutation: hypervisor/core/icr.c: `if (shorthand == SHORT_OTHERS || mode >= MODE_INIT)` ->
 *	`if (shorthand == SHORT_OTHERS)`: a CPU resets itself
 */
#include "core/icr.h"
#include "prove.h"

#define FIXED	0u
#define NMI	4u

/* Manuals: Intel SDM vol. 3, 11.6.2.3 (xAPIC destinations), 11.12.9 and 11.12.10 (x2APIC) */
static bool meant(const struct icr_map *m, u32 low, u32 dest, u32 self, u32 cpu)
{
	u32 id = m->apic_id[cpu], all = m->x2apic ? 0xffffffff : 0xff, ldr;

	switch (low >> 18 & 3) {
	case 1: return cpu == self;
	case 2: return true;
	case 3: return cpu != self;
	}
	if (dest == all)
		return true;
	if (!(low >> 11 & 1))
		return dest == id;
	ldr = m->x2apic ? (id & 0xffff0) << 12 | 1u << (id & 0xf) : m->ldr[cpu];
	if (m->x2apic)
		return dest >> 16 == (id >> 4 & 0xffff) && (dest & ldr & 0xffff);
	if (m->cluster)
		return (dest >> 4) == (ldr >> 4) && (dest & ldr & 0xf);
	return dest & ldr;
}

int main(void)
{
	struct icr_map map = {
		.num = any_u32(), .x2apic = any_bool(), .own_cpus = any_u64(),
		.cluster = any_bool(),
	};
	u32 low = any_u32(), dest = any_u32(), self = any_u32(), cpu = any_u32(), i, mode;
	struct icr_verdict v;

	for (i = 0; i < ICR_CPUS; i++) {
		map.apic_id[i] = any_u32();
		map.ldr[i] = any_u8();
	}
	ASSUME(map.num <= ICR_CPUS && self < ICR_CPUS && cpu < ICR_CPUS);
	ASSUME(map.x2apic || dest <= 0xff);
	ASSUME(map.num == ICR_CPUS || !(map.own_cpus >> map.num));
	v = icr_filter(&map, low, dest, self);

	PROVE(!(v.targets & ~map.own_cpus), "only own CPUs are reached");
	if (v.targets >> cpu & 1) {		/* @cpu is any one of the targets */
		PROVE(cpu < map.num, "a CPU that exists");
		PROVE(meant(&map, low, dest, self, cpu), "which the write addresses");
		PROVE(v.action == ICR_SEND || cpu != self, "no CPU resets itself");
	}
	PROVE(!v.targets == (v.action == ICR_DROP) || v.action == ICR_INIT || v.action == ICR_SIPI,
	      "no action without targets");
	if (v.action == ICR_SEND) {
		mode = v.low >> 8 & 7;
		PROVE(mode == FIXED || mode == NMI, "fixed or NMI");
		PROVE(mode == NMI || (v.low & 0xff) >= 16, "a vector that may be sent");
		PROVE(!(v.low & ~0x47ffu), "edge, physical, no shorthand");
		PROVE((v.low & 0xff) == (low & 0xff), "the requested vector");
	}
	if (v.foreign)
		PROVE(!v.targets, "a write that names a foreign CPU reaches no CPU");
	if (v.action == ICR_SIPI)
		PROVE(v.vector == (low & 0xff), "the requested vector");
	return 0;
}
