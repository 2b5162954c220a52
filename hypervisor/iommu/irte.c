// SPDX-License-Identifier: GPL-2.0-only
#include "core/pci_filter.h"
#include "iommu/irte.h"

/* May be set: P, FPD, DM, RH, TM, DLM, the vector, the destination. Not: bit 15, a posted format */
#define LOW		0xffffffff00ff00ffull
#define LOGICAL		(1ull << 2)
#define MODE(low)	((u32)(low) >> 5 & 7)
#define VECTOR(low)	((u32)(low) >> 16 & 0xff)
#define HIGH		0xfffffull	/* which devices may use it; the rest is reserved */

/* Returns true if the CPUs @first + i, for each bit i of @members, are CPUs of @map->own_cpus */
static bool all_own(const struct icr_map *map, u32 first, u32 members)
{
	u32 own = 0, i;

	for (i = 0; i < map->num && i < ICR_CPUS; i++)
		if ((map->own_cpus & 1ull << i) && map->apic_id[i] - first < 16)
			own |= 1u << (map->apic_id[i] - first);
	return members && !(members & ~own);
}

bool irte_ok(const struct icr_map *map, bool wide, u64 low, u64 high)
{
	u32 dest = low >> 32;

	if (!(low & IRTE_PRESENT))
		return true;
	if (low & ~LOW || high & ~HIGH || MODE(low) > 1 || VECTOR(low) < 16)
		return false;
	if (!wide)		/* the id is in bits 15..8: the rules of an IOAPIC's entry */
		return !(dest & ~0xff00u) &&
		       ioapic_entry_ok(map, low & LOGICAL ? 1u << 11 : 0, dest << 16);
	/* A logical id is the number of a cluster of 16 CPUs, and one bit per member */
	return low & LOGICAL ? all_own(map, dest >> 16 << 4, dest & 0xffff) :
			       all_own(map, dest, 1);
}

bool irte_ok_amdvi(const struct icr_map *map, bool wide, u64 low, u64 high)
{
	u64 dest = (low >> 8 & 0xffffff) | high >> 56 << 24;

	if (!(low & IRTE_PRESENT))
		return true;
	/* May be set: P, no event, type, DM, the destination; the vector. Not: guest mode */
	if (low & ~0xffffff5full || high & ~0xff000000000000ffull || (!wide && dest > 0xff))
		return false;
	/* The same entry in the format of VT-d */
	return irte_ok(map, wide, IRTE_PRESENT | (low >> 2 & 7) << 5 |
		       (low & 1u << 6 ? LOGICAL : 0) | IRTE_VECTOR(high & 0xff) |
		       dest << (wide ? 32 : 40), 0);
}
