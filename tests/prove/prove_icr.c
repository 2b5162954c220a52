// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property: no accepted write of the ICR reaches a foreign CPU: icr_filter() names only the sender's own
 *	CPUs that the write means; what is sent is fixed or NMI, to one physical destination, no shorthand
 * Bound: none: 64 CPUs, any ids, any map, any 64 bits of ICR, xAPIC and x2APIC, flat and cluster
 * Assumed: num <= 64, own CPUs are below num, self < 64: as the instance's CPUs are
 *	numbered; in xAPIC mode destinations and logical ids are bytes, as the registers hold them
 * Enough: 64 is ICR_CPUS, the most an instance can have
 * Code: hypervisor/core/icr.c
 * Options: --unwind 65
 * Quick: yes
 * Twin: hypervisor/core/icr.c: `return hit & map->own;` -> `return hit;`: foreign CPUs are reached
 * Twin: hypervisor/core/icr.c: `if (shorthand == SHORT_OTHERS || mode >= MODE_INIT)` -> `if (mode >= MODE_INIT)`: others means me too
 * Twin: hypervisor/core/icr.c: `v.low = v.vector | ` -> `v.low = (low & 0xfff) | `: modes and logical destinations pass
 * Twin: hypervisor/core/icr.c: `i < map->num && i < ICR_CPUS` -> `i <= map->num`: a CPU beyond the last
 * Twin: hypervisor/core/icr.c: `if (shorthand == SHORT_OTHERS || mode >= MODE_INIT)` -> `if (shorthand == SHORT_OTHERS)`: a CPU resets itself
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
		.num = any_u32(), .x2apic = any_bool(), .own = any_u64(), .cluster = any_bool(),
	};
	u32 low = any_u32(), dest = any_u32(), self = any_u32(), cpu = any_u32(), i, mode;
	struct icr_verdict v;

	for (i = 0; i < ICR_CPUS; i++) {
		map.apic_id[i] = any_u32();
		map.ldr[i] = any_u8();
	}
	ASSUME(map.num <= ICR_CPUS && self < ICR_CPUS && cpu < ICR_CPUS);
	ASSUME(map.x2apic || dest <= 0xff);
	ASSUME(map.num == ICR_CPUS || !(map.own >> map.num));
	v = icr_filter(&map, low, dest, self);

	PROVE(!(v.targets & ~map.own), "only one's own are reached");
	if (v.targets >> cpu & 1) {		/* any one of them */
		PROVE(cpu < map.num, "a CPU there is");
		PROVE(meant(&map, low, dest, self, cpu), "that is meant");
		PROVE(v.action == ICR_SEND || cpu != self, "nobody resets himself");
	}
	PROVE(!v.targets == (v.action == ICR_DROP) || v.action == ICR_INIT || v.action == ICR_SIPI,
	      "no action without targets");
	if (v.action == ICR_SEND) {
		mode = v.low >> 8 & 7;
		PROVE(mode == FIXED || mode == NMI, "fixed or NMI");
		PROVE(mode == NMI || (v.low & 0xff) >= 16, "a vector that may be sent");
		PROVE(!(v.low & ~0x47ffu), "edge, physical, no shorthand");
		PROVE((v.low & 0xff) == (low & 0xff), "the vector that was asked for");
	}
	if (v.foreign)
		PROVE(!v.targets, "who names a foreign CPU reaches nobody");
	if (v.action == ICR_SIPI)
		PROVE(v.vector == (low & 0xff), "the vector that was asked for");
	return 0;
}
