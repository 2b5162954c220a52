// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property: a message of a cell's device that pci_filter() accepts reaches one of the cell's own
 *	CPUs, with a vector from 32 on, fixed or lowest priority. Behind an IOMMU it names an entry
 *	of the function for one of these CPUs and such a vector. A register changes only where its
 *	rule allows. An accepted IOAPIC entry reaches own CPUs only, is masked, or is in remapped
 *	format on a machine with remapping
 * Bound: 3 and 8 CPUs with any ids and logical ids; any rule, old and new value, mask and entry
 * Assumed: a foreign CPU has any ids and its APIC is in either mode, but no APIC id and no
 *	logical id of an own CPU
 * Enough: each CPU is checked alike, and separately; a CPU that is not known counts as foreign
 * Code: hypervisor/core/pci_filter.c
 * Options: --unwind 65
 * Quick: yes
 * Mutation: hypervisor/core/pci_filter.c: `(value & 0xfff00fff)` -> `(value & 0xfff00ff3)`: logical
 *	destinations are accepted
 * Mutation: hypervisor/core/pci_filter.c: ` || value >= 0xfeeff000` -> ``: a message to all CPUs
 *	is accepted
 * Mutation: hypervisor/core/pci_filter.c: `value & 0xffffbe00 || to < 32` ->
 *	`value & 0xffffb800 || to < 32`: SMI and NMI are accepted
 * Mutation: hypervisor/core/pci_filter.c: `(map->own_cpus & 1ull << i) && map->apic_id` ->
 *	`map->apic_id`: foreign CPUs are reached
 * Mutation: hypervisor/core/pci_filter.c: `i * (REMAP_ENTRIES << 5)` -> `i * (REMAP_ENTRIES << 4)`:
 *	a message names an entry between those of two CPUs
 * Mutation: hypervisor/core/pci_filter.c: `return remap ? to : value;` -> `return value;`: a
 *	message passes the IOMMU's table
 * Mutation: hypervisor/core/pci_filter.c: `(old & rule->keep & ~change) | (value & change)` ->
 *	`(old & rule->keep & ~change) | (value & mask)`: bits without a rule are set
 * Mutation: hypervisor/core/pci_filter.c: `return high >> 24 != 0xff && own_index` -> `return
 *	own_index`: a broadcast is accepted
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

/* Returns true if CPU @i accepts a message to @dest. AMD APM vol. 2, 16.6 */
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

static void a_remapped_message(u32 check, u32 out, u32 first)
{
	u32 index = out >> 5 & 0x7fff, i = (index - first) / REMAP_ENTRIES;

	if (check == PCI_MSI_ADDRESS)
		PROVE((out & ~(0x7fffu << 5)) == 0xfee00018 && !(index & (REMAP_ENTRIES - 1)) &&
		      i < map.num && (map.own_cpus >> i & 1), "an entry for an own CPU");
	if (check == PCI_MSI_DATA)
		PROVE(out >= 32 && out < REMAP_ENTRIES, "a vector");
}

static void a_register(u32 cpu)
{
	struct pci_rule rule = { any_u32(), any_u32(), any_u32(), any_u32(), 0 };
	u32 old = any_u32(), value = any_u32(), mask = any_u32(), out;
	u32 first = any_u8() * REMAP_ENTRIES;
	s64 written;

	ASSUME(first <= 16384 - CPUS * REMAP_ENTRIES);
	if (rule.check != PCI_ANY && any_bool())
		rule.remap = REMAP_ADDRESS(first);
	written = pci_filter(&map, &rule, old, value, mask);
	if (written < 0)
		return;
	out = written;
	PROVE(out == written, "32 bits");
	if (rule.remap) {
		a_remapped_message(rule.check, out, first);
		return;
	}
	PROVE(!((out ^ old) & ~(rule.writable & mask) & rule.keep), "protected bits do not change");
	PROVE(!(out & ~(rule.writable | rule.keep)), "and no bit without a rule is set");
	if (rule.check == PCI_MSI_ADDRESS) {
		PROVE(out >> 20 == 0xfee && !(out & 0xc), "a message, to one physical destination");
		PROVE(!reached(cpu, out >> 12 & 0xff, false) || (map.own_cpus >> cpu & 1),
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
	PROVE(!reached(cpu, high >> 24, low >> 11 & 1) || (map.own_cpus >> cpu & 1), "to own CPUs");
}

/* @num is a constant where this is called, so that the indices of loops are constants too */
static void with_cpus(u32 num, u32 cpu)
{
	map.num = num;
	ASSUME(!(map.x2 >> num));
	if (any_bool())
		a_register(cpu);
	else
		an_entry(cpu);
}

int main(void)
{
	u32 cpu = any_u32(), i;

	map.own_cpus = any_u64();
	map.x2 = any_u64();
	map.x2apic = any_bool();
	map.cluster = any_bool();
	map.remapped = any_bool();
	ASSUME(cpu < CPUS);
	for (i = 0; i < CPUS; i++) {
		map.apic_id[i] = any_u8();
		map.ldr[i] = any_u8();
	}
	for (i = 0; i < CPUS; i++)
		if (i != cpu && !(map.own_cpus >> cpu & 1)) {
			ASSUME(map.apic_id[i] != map.apic_id[cpu]);
			ASSUME(!(map.ldr[i] & map.ldr[cpu] & (map.cluster ? 15 : 255)) ||
			       (map.cluster && map.ldr[i] >> 4 != map.ldr[cpu] >> 4));
		}
	if (any_bool())
		with_cpus(CPUS, cpu);
	else
		with_cpus(3, cpu);
	return 0;
}
