// SPDX-License-Identifier: GPL-2.0-only
#include "icr.h"

#define ICR_VECTOR	0xffu
#define ICR_MODE(low)	(((low) >> 8) & 7)
#define ICR_LOGICAL	(1u << 11)
#define ICR_ASSERT	(1u << 14)
#define ICR_TRIGGER	(1u << 15)
#define ICR_SHORT(low)	(((low) >> 18) & 3)

enum { MODE_FIXED, MODE_LOWEST, MODE_SMI, MODE_RESERVED, MODE_NMI, MODE_INIT, MODE_SIPI, MODE_EXT };
enum { SHORT_NONE, SHORT_SELF, SHORT_ALL, SHORT_OTHERS };

/*
 * Returns those own CPUs that @dest names. A logical id is a cluster number and one bit per member.
 * x2APIC derives it from the physical id (id / 16, id % 16). Flat mode has no clusters.
 */
static u64 named(const struct icr_map *map, u32 low, u32 dest)
{
	u32 all = map->x2apic ? ~0u : 0xff, i;
	u32 cluster = map->x2apic ? 0xffff0000 : map->cluster ? 0xf0 : 0;
	u64 hit = 0;

	for (i = 0; i < map->num && i < ICR_CPUS; i++) {
		u32 id = map->apic_id[i];
		u32 ldr = map->x2apic ? (id & ~15u) << 12 | 1u << (id & 15) : map->ldr[i];

		if (dest == all || (low & ICR_LOGICAL ?
		    !((dest ^ ldr) & cluster) && (dest & ldr & ~cluster) : dest == id))
			hit |= 1ull << i;
	}
	return hit & map->own_cpus;
}

/* The action of each delivery mode. SMI, ExtINT and the reserved mode are never sent */
static const u8 actions[8] = {
	[MODE_FIXED] = ICR_SEND, [MODE_LOWEST] = ICR_SEND, [MODE_NMI] = ICR_SEND,
	[MODE_INIT] = ICR_INIT, [MODE_SIPI] = ICR_SIPI,
};

struct icr_verdict icr_filter(const struct icr_map *map, u32 low, u32 dest, u32 self)
{
	u32 mode = ICR_MODE(low), shorthand = ICR_SHORT(low), action = actions[mode];
	u64 oneself = 1ull << self, targets = map->own_cpus;
	struct icr_verdict v = { 0 };

	if (shorthand == SHORT_NONE)
		targets = named(map, low, dest);
	if (shorthand == SHORT_SELF)
		targets &= oneself;
	/* "All" means all own CPUs. A logical destination means those own CPUs that it matches */
	v.foreign = !shorthand && !(low & ICR_LOGICAL) && !targets;
	/* INIT to the sender itself: no CPU resets itself this way */
	if (shorthand == SHORT_OTHERS || mode >= MODE_INIT)
		targets &= ~oneself;
	if (mode == MODE_LOWEST)
		/* lowest priority: only one of the targets gets it, the first */
		targets &= -targets;
	v.vector = low & ICR_VECTOR;
	if ((mode <= MODE_LOWEST && v.vector < 16) ||
	    /* a level de-assert has had no effect since the Pentium 4 */
	    (mode == MODE_INIT && (low & (ICR_TRIGGER | ICR_ASSERT)) == ICR_TRIGGER))
		action = ICR_DROP;
	/* Send as physical, no shorthand, edge. Never as lowest priority (reserved in x2APIC) */
	v.low = v.vector | (mode == MODE_NMI ? MODE_NMI << 8 : 0) | ICR_ASSERT;
	if (action != ICR_DROP && targets) {
		v.action = action;
		v.targets = targets;
	}
	return v;
}
