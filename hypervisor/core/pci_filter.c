// SPDX-License-Identifier: GPL-2.0-only
#include "pci_filter.h"

/* Returns the index of the CPU with this id in @map->own_cpus, or -1 */
static s32 own_index(const struct icr_map *map, u32 id)
{
	u32 i;

	for (i = 0; i < map->num && i < ICR_CPUS; i++)
		if ((map->own_cpus & 1ull << i) && map->apic_id[i] == id)
			return i;
	return -1;
}

s64 pci_value(const struct icr_map *map, u32 check, u32 remap, u32 value)
{
	u32 to = value;

	if (check == PCI_MSI_ADDRESS) {
		s32 i = own_index(map, value >> 12 & 0xff);

		/* no redirection hint, no logical mode; the id 255 is all CPUs */
		if ((value & 0xfff00fff) != 0xfee00000 || value >= 0xfeeff000 || i < 0)
			return -1;
		to = remap + i * (REMAP_ENTRIES << 5);
	} else if (check == PCI_MSI_DATA) {	/* bit 14 (assert) has no meaning for an edge */
		to = value & 0xff;
		if (value & 0xffffbe00 || to < 32)
			return -1;
	} else if (check == PCI_ZERO && value) {
		return -1;
	}
	return remap ? to : value;
}

s64 pci_filter(const struct icr_map *map, const struct pci_rule *rule, u32 old, u32 value,
	       u32 mask)
{
	u32 change = mask & rule->writable;

	return pci_value(map, rule->check, rule->remap,
			 (old & rule->keep & ~change) | (value & change));
}

#define ENTRY_LOGICAL	(1u << 11)
#define ENTRY_MASKED	(1u << 16)
#define ENTRY_REMAPPED	(1u << 16)	/* bit 48 of the entry: bit 16 of its high half */
/* bits 49 to 55: upper part of the id if QV runs in a virtual machine, else 0 */
#define ENTRY_MORE_ID	(0x7fu << 17)

/* True if each member of the logical destination @dest is an own CPU, and it has a member */
static bool own_logical(const struct icr_map *map, u32 dest)
{
	u32 i, members = 0;

	/* Linux uses physical destinations there; 255 is all CPUs */
	if (map->x2apic || dest == 0xff)
		return false;
	for (i = 0; i < map->num && i < ICR_CPUS; i++) {
		if ((map->x2 & 1ull << i) && (dest & icr_x2_id(map->apic_id[i])))
			return false;
		if (!(map->own_cpus & 1ull << i))
			continue;
		if (!map->cluster)
			members |= map->ldr[i];
		else if (map->ldr[i] >> 4 == dest >> 4)
			members |= map->ldr[i] & 15;
	}
	if (map->cluster)
		dest &= 15;
	return dest && !(dest & ~members);
}

bool ioapic_entry_ok(const struct icr_map *map, u32 low, u32 high)
{
	/* Without remapping, bit 48 has no meaning: the entry has the compatible format */
	if ((low & ENTRY_MASKED) || (map->remapped && (high & ENTRY_REMAPPED)))
		return true;
	/* forbidden delivery modes: SMI, NMI, INIT, ExtINT */
	if ((low >> 8 & 7) > 1 || (high & ENTRY_MORE_ID))
		return false;
	if (low & ENTRY_LOGICAL)
		return own_logical(map, high >> 24);
	return high >> 24 != 0xff && own_index(map, high >> 24) >= 0;
}
