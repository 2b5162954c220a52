// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include "fake_amdvi.h"
#include "fake_vtd.h"
#include "iommu_linux.h"

/* Linux has both units' queues and tables at the same addresses */
_Static_assert(FAKE_RING == FAKE_AMDVI_RING, "queue");
_Static_assert((FAKE_IRT & ~(QV_HUGE - 1ull)) == FAKE_AMDVI_DEVICES, "tables");
const u64 huge[HUGES] = { FAKE_RING, FAKE_AMDVI_DEVICES, 100u << 20, 102u << 20 };
u32 gone;

bool linux_has(u64 pa)
{
	u32 i;

	for (i = 0; i < HUGES; i++)
		if (gone >> i & 1 && (pa & ~(QV_HUGE - 1ull)) == huge[i])
			return false;
	return true;
}

void linux_writes(u64 pa, u64 low, u64 high)
{
	if (!linux_has(pa))
		return;
	memcpy(fake_ram + pa, &low, 8);
	memcpy(fake_ram + pa + 8, &high, 8);
}

u64 any_address(struct choices *c, const u64 *near, u32 num)
{
	u64 which = choose(c, HUGES + num + 1);

	if (which < HUGES)
		return huge[which] + choose(c, 64);
	which -= HUGES;
	return which < num ? near[which] + choose(c, 2) * 4 : choose(c, ~0ull);
}

static bool own(u64 apic_id)
{
	return !(apic_id & 1) && apic_id / 2 < FAKE_CPUS && me()->icr.own_cpus >> apic_id / 2 & 1;
}

bool linux_only(u64 dest, bool logical)
{
	u32 i;

	if (!logical)
		return own(dest);
	for (i = 0; i < 16; i++)
		if (dest >> i & 1 && !own((dest >> 16 << 4) + i))
			return false;
	return dest & 0xffff;
}
