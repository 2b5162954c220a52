// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property: an entry of a table for interrupts that irte_ok() accepts (case 1), or irte_ok_amdvi()
 *	(case 2), is absent, or reaches CPUs of Linux only, fixed or lowest priority, with a vector
 *	from 16 on
 * Bound: 8 CPUs with any ids and logical ids; any entry of 128 bits, with long and short
 *	destinations
 * Assumed: a foreign CPU has no APIC id and no logical id of an own CPU. With long destinations
 *	all CPUs are in x2APIC mode, and their ids differ in the 20 bits of which the processor
 *	makes logical ids. No CPU has the id that means all CPUs
 * Enough: each CPU is checked alike, and separately
 * Code: hypervisor/iommu/irte.c hypervisor/core/pci_filter.c
 * Options: --unwind 65
 * Cases: 1 2
 * Mutation: hypervisor/iommu/irte.c: `(map->own_cpus & 1ull << i) && ` -> ``: foreign CPUs are
 *	reached (case 1)
 * Mutation: hypervisor/iommu/irte.c: `MODE(low) > 1` -> `MODE(low) > 4`: SMI and NMI are accepted
 *	(case 1)
 * Mutation: hypervisor/iommu/irte.c: `VECTOR(low) < 16` -> `VECTOR(low) < 15`: a vector that is
 *	an error is accepted (case 1)
 * Mutation: hypervisor/iommu/irte.c: `0xffffffff00ff00ffull` -> `0xffffffff00ff80ffull`: posted
 *	entries are accepted (case 1)
 * Mutation: hypervisor/iommu/irte.c: `!(members & ~own)` -> `(members & own)`: one own CPU opens
 *	its cluster (case 1)
 * Mutation: hypervisor/iommu/irte.c: `!(dest & ~0xff00u) &&` -> ``: reserved bits of a short
 *	destination change its meaning (case 1)
 * Mutation: hypervisor/iommu/irte.c: `low & LOGICAL ? 1u << 11 : 0` -> `0`: a short logical
 *	destination is checked as a physical one (case 1)
 * Mutation: hypervisor/iommu/irte.c: `low & ~0xffffff5full` -> `low & ~0xffffffdfull`: entries for
 *	virtual machines are accepted (case 2)
 * Mutation: hypervisor/iommu/irte.c: `(low >> 2 & 7) << 5` -> `0`: SMI and NMI are accepted (case
 *	2)
 * Mutation: hypervisor/iommu/irte.c: `(!wide && dest > 0xff)` -> `0`: reserved bits of a short
 *	destination are accepted (case 2)
 * Mutation: hypervisor/iommu/irte.c: `| high >> 56 << 24;` -> `;`: the upper part of a destination
 *	is not looked at (case 2)
 */
#include "iommu/irte.h"
#include "prove.h"

#define CPUS	8u

static struct icr_map map;

/* True if CPU @i accepts the interrupt. Intel SDM vol. 3, 11.12.10; AMD APM vol. 2, 16.6 */
static bool reached(u32 i, bool wide, bool logical, u32 dest)
{
	u32 id = map.apic_id[i];

	if (dest == (wide ? 0xffffffff : 0xff))
		return true;
	if (!logical)
		return id == dest;
	if (wide)
		return dest >> 16 == (id >> 4 & 0xffff) && (dest >> (id & 15) & 1);
	if (map.x2 >> i & 1)
		return id < 8 && (dest >> id & 1);
	if (map.cluster)
		return map.ldr[i] >> 4 == dest >> 4 && (map.ldr[i] & dest & 15);
	return map.ldr[i] & dest;
}

static void vtd(u32 cpu, bool wide, u64 low, u64 high)
{
	u32 dest = wide ? low >> 32 : low >> 40 & 0xff;

	if (!irte_ok(&map, wide, low, high) || !(low & 1))
		return;
	PROVE((low >> 5 & 7) <= 1, "fixed or lowest priority");
	PROVE((low >> 16 & 0xff) >= 16, "a vector that may be sent");
	PROVE(!(low >> 15 & 1), "not posted");
	PROVE(!(low & 0xff007f00) && !(high >> 20), "no reserved bit");
	PROVE(wide || !(low >> 32 & 0xffff00ff), "a short destination alone");
	PROVE(!reached(cpu, wide, low >> 2 & 1, dest) || (map.own_cpus >> cpu & 1),
	      "to CPUs of Linux");
}

/* AMD I/O Virtualization Technology 3.06, 2.2.8.2 */
static void amdvi(u32 cpu, bool wide, u64 low, u64 high)
{
	u32 dest = (low >> 8 & 0xffffff) | (u32)(high >> 56) << 24;

	if (!irte_ok_amdvi(&map, wide, low, high) || !(low & 1))
		return;
	PROVE((low >> 2 & 7) <= 1, "fixed or lowest priority");
	PROVE((high & 0xff) >= 16, "a vector that may be sent");
	PROVE(!(low >> 7 & 1), "not for a virtual machine");
	PROVE(!(low >> 5 & 1) && !(low >> 32) && !(high << 8 >> 16), "no reserved bit");
	PROVE(wide || dest <= 0xff, "a short destination alone");
	PROVE(!reached(cpu, wide, low >> 6 & 1, dest) || (map.own_cpus >> cpu & 1),
	      "to CPUs of Linux");
}

int main(void)
{
	u32 cpu = any_u32(), i;
	u64 low = any_u64(), high = any_u64();
	bool wide = any_bool();

	map.num = any_u32();
	map.own_cpus = any_u64();
	map.x2 = any_u64();
	map.x2apic = wide;
	map.cluster = any_bool();
	map.remapped = any_bool();
	ASSUME(map.num <= CPUS && cpu < CPUS && !(map.x2 >> map.num));
	for (i = 0; i < CPUS; i++) {
		map.apic_id[i] = wide ? any_u32() & 0xfffff : any_u8();
		map.ldr[i] = any_u8();
		ASSUME(wide || map.apic_id[i] != 0xff);
	}
	for (i = 0; i < CPUS; i++)
		if (i != cpu && !(map.own_cpus >> cpu & 1)) {
			ASSUME(map.apic_id[i] != map.apic_id[cpu]);
			ASSUME(!(map.ldr[i] & map.ldr[cpu] & (map.cluster ? 15 : 255)) ||
			       (map.cluster && map.ldr[i] >> 4 != map.ldr[cpu] >> 4));
		}
	if (CASE == 1)
		vtd(cpu, wide, low, high);
	else
		amdvi(cpu, wide, low, high);
	return 0;
}
