// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property: a message of a cell's device that pci_filter() accepts reaches one of the cell's own
 *	CPUs, with a vector from 32 on, fixed or lowest priority. A register changes only where its
 *	rule allows. An accepted IOAPIC entry reaches own CPUs only, is masked, or is in remapped
 *	format on a machine with remapping
 * Bound: 8 CPUs with any ids and logical ids; any rule, old and new value, mask and entry
 * Assumed: a foreign CPU has any ids and its APIC is in either mode, but no APIC id and no
 *	logical id of an own CPU
 * Enough: each CPU is checked alike, and separately
 * Code: hypervisor/core/pci_filter.c
 * Options: --unwind 65
 * Quick: yes
 * Mutation: hypervisor/core/pci_filter.c: `(value & 0xfff00fff) == 0xfee00000` ->
 *	`(value & 0xfff00ff3) == 0xfee00000`: logical destinations are accepted
 * Mutation: hypervisor/core/pci_filter.c: `!(value & 0xffffbe00) && (value & 0xff) >= 32` ->
 *	`!(value & 0xffffb800) && (value & 0xff) >= 32`: SMI and NMI are accepted
 * Mutation: hypervisor/core/pci_filter.c: `if ((map->own & 1ull << i) && map->apic_id[i] == id)` ->
 *	`if (map->apic_id[i] == id)`: foreign CPUs are reached
 * Mutation: hypervisor/core/pci_filter.c: `(old & rule->keep & ~change) | (value & change)` ->
 *	`(old & rule->keep & ~change) | (value & mask)`: bits without a rule are set
 * Mutation: hypervisor/core/pci_filter.c: `return high >> 24 != 0xff && own_id(map, high >> 24);`
 *	-> `return own_id(map, high >> 24);`: a broadcast is accepted
 * Mutation: hypervisor/core/pci_filter.c: `if (map->x2apic || dest == 0xff)` -> `if (map->x2apic)`:
 *	a logical broadcast is accepted
 * Mutation: hypervisor/core/pci_filter.c: `(dest & icr_x2_id(map->apic_id[i]))` -> `!dest`: the
 *	logical id of a CPU in x2APIC mode is accepted
 * Mutation: hypervisor/core/pci_filter.c: `(map->remapped && (high & ENTRY_REMAPPED))` ->
 *	`(high & ENTRY_REMAPPED)`: NMIs reach foreign CPUs
 */
#include "core/pci_filter.h"
#include "prove.h"

#define CPUS	8u

static struct icr_map map;

/* Does CPU @i accept a message to @dest? AMD APM vol. 2, 16.6 */
static bool reached(u32 i, u32 dest, bool logical)
{
	if (dest == 0xff)
		return true;
	if (!logical)
		return map.apic_id[i] == dest;
	if ((map.x2 >> i & 1) && map.apic_id[i] < 8)	/* Intel SDM vol. 3, 11.12.10.2 */
		return dest >> map.apic_id[i] & 1;
	if (map.x2 >> i & 1)
		return false;
	if (map.cluster)
		return map.ldr[i] >> 4 == dest >> 4 && (map.ldr[i] & dest & 15);
	return map.ldr[i] & dest;
}

static void a_register(u32 cpu)
{
	struct pci_rule rule = { any_u32(), any_u32(), any_u32(), any_u32() };
	u32 old = any_u32(), value = any_u32(), mask = any_u32(), out;

	if (!pci_filter(&map, &rule, old, value, mask, &out))
		return;
	PROVE(!((out ^ old) & ~(rule.writable & mask) & rule.keep), "protected bits do not change");
	PROVE(!(out & ~(rule.writable | rule.keep)), "and no bit without a rule is set");
	if (rule.check == PCI_MSI_ADDRESS) {
		PROVE(out >> 20 == 0xfee && !(out & 0xc), "a message, to one physical destination");
		PROVE(!reached(cpu, out >> 12 & 0xff, false) || (map.own >> cpu & 1),
		      "to an own CPU");
	}
	if (rule.check == PCI_MSI_DATA)
		PROVE((out & 0xff) >= 32 && (out >> 8 & 7) <= 1 && !(out >> 15),
		      "a vector; fixed or lowest; edge");
}

static void an_entry(u32 cpu)
{
	u32 low = any_u32(), high = any_u32();

	if (!ioapic_entry_ok(&map, low, high) || (low >> 16 & 1) ||
	    (map.remapped && (high >> 16 & 1)))
		return;
	PROVE((low >> 8 & 7) <= 1, "fixed or lowest");
	PROVE(!(high >> 17 & 0x7f), "an id of eight bits");
	PROVE(!reached(cpu, high >> 24, low >> 11 & 1) || (map.own >> cpu & 1), "to own CPUs");
}

int main(void)
{
	u32 cpu = any_u32(), i;

	map.num = any_u32();
	map.own = any_u64();
	map.x2 = any_u64();
	map.x2apic = any_bool();
	map.cluster = any_bool();
	map.remapped = any_bool();
	ASSUME(map.num <= CPUS && cpu < CPUS && !(map.x2 >> map.num));
	for (i = 0; i < CPUS; i++) {
		map.apic_id[i] = any_u8();
		map.ldr[i] = any_u8();
	}
	for (i = 0; i < CPUS; i++)
		if (i != cpu && !(map.own >> cpu & 1)) {
			ASSUME(map.apic_id[i] != map.apic_id[cpu]);
			ASSUME(!(map.ldr[i] & map.ldr[cpu] & (map.cluster ? 15 : 255)) ||
			       (map.cluster && map.ldr[i] >> 4 != map.ldr[cpu] >> 4));
		}
	if (any_bool())
		a_register(cpu);
	else
		an_entry(cpu);
	return 0;
}
