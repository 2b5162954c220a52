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

static bool logical_match(const struct icr_map *map, u32 cpu, u32 dest)
{
	u32 id = map->apic_id[cpu];

	if (map->x2apic)	/* the logical id is derived: cluster = id / 16, member bit = id % 16 */
		return dest == ~0u || (dest >> 16 == id >> 4 && (dest & (1u << (id & 15))));
	if (dest == 0xff)
		return true;
	if (map->cluster)
		return dest >> 4 == map->ldr[cpu] >> 4 && (dest & map->ldr[cpu] & 15);
	return dest & map->ldr[cpu];
}

static bool match(const struct icr_map *map, u32 low, u32 dest, u32 self, u32 cpu)
{
	switch (ICR_SHORT(low)) {
	case SHORT_SELF:	return cpu == self;
	case SHORT_ALL:		return true;
	case SHORT_OTHERS:	return cpu != self;
	}
	if (low & ICR_LOGICAL)
		return logical_match(map, cpu, dest);
	return dest == map->apic_id[cpu] || dest == (map->x2apic ? ~0u : 0xffu);
}

static enum icr_action action_of(u32 low)
{
	switch (ICR_MODE(low)) {
	case MODE_FIXED:
	case MODE_LOWEST:
		return (low & ICR_VECTOR) < 16 ? ICR_DROP : ICR_SEND;
	case MODE_NMI:
		return ICR_SEND;
	case MODE_INIT:		/* a level de-assert does nothing since the Pentium 4 */
		return (low & ICR_TRIGGER) && !(low & ICR_ASSERT) ? ICR_DROP : ICR_INIT;
	case MODE_SIPI:
		return ICR_SIPI;
	}
	return ICR_DROP;	/* SMI and the reserved modes: never */
}

struct icr_verdict icr_filter(const struct icr_map *map, u32 low, u32 dest, u32 self)
{
	struct icr_verdict v = { .action = action_of(low), .vector = low & ICR_VECTOR };
	u64 all = 0;
	u32 i;

	for (i = 0; i < map->num && i < ICR_CPUS; i++)
		if (match(map, low, dest, self, i))
			all |= 1ull << i;
	v.targets = all & map->own;
	/* "All" means all of one's own, and a logical name means whoever of these has it */
	v.foreign = !ICR_SHORT(low) && !(low & ICR_LOGICAL) && !v.targets;
	if (v.action == ICR_DROP || !v.targets) {
		v.action = ICR_DROP;
		v.targets = 0;
		return v;
	}
	if (ICR_MODE(low) == MODE_LOWEST)
		v.targets &= -v.targets;	/* one of them: the first */
	if (v.action != ICR_SEND)
		v.targets &= ~(1ull << self);	/* nobody resets himself this way */
	/* physical, no shorthand, edge, and never lowest priority (reserved in x2APIC) */
	v.low = (low & ICR_VECTOR) | (ICR_MODE(low) == MODE_NMI ? MODE_NMI << 8 : 0) | ICR_ASSERT;
	return v;
}
