// SPDX-License-Identifier: GPL-2.0-only
/* The driver's call about the IOMMU: right after enable, right before disable, and in between. */
#include "abi/calls.h"
#include "abi/errors.h"
#include "iommu/iommu.h"
#include "manage/manage.h"

/* Hides the registers from Linux, or gives them back */
static bool registers(struct pcpu *cpu, enum linux_access access)
{
	u32 i;

	for (i = 0; i < iommu_units(); i++)
		linux_memory(me()->iommu.units[i].pa, me()->iommu.units[i].len, access);
	return flush_front_end(cpu);
}

u64 call_iommu(struct pcpu *cpu, u64 what, u64 unused)
{
	const u32 *begun = &me()->iommu.units[0].step;
	bool take = what == QV_IOMMU_TAKE, done, cells = false;
	u32 i;

	if (what == QV_IOMMU_LOOK && me()->iommu.owned)
		return iommu_look(cpu) ? QV_ME_OK : QV_ME_IOMMU;
	if (me()->iommu.lost && what <= QV_IOMMU_GIVE)
		return QV_ME_IOMMU;
	for (i = 1; i < QV_INSTANCES; i++)
		cells |= !!me()->manager.cells[i].state;
	/* Linux is trusted before the first cell. After the last, nothing is protected */
	if (what > QV_IOMMU_GIVE || cells || (take ? me()->iommu.owned : !*begun))
		return QV_ME_STATE;
	/* Linux may have had the registers since the monitor gave the units back */
	done = take ? (*begun || registers(cpu, LINUX_NONE)) && iommu_take(cpu) : iommu_give(cpu);
	if (!*begun)
		registers(cpu, LINUX_ALL);
	if (done && me()->iommu.owned == take)
		return QV_ME_OK;
	/* QV_ME_BUSY: the take has more steps, or a CPU uses a unit and nothing has changed */
	return *begun || (take && !done) ? QV_ME_BUSY : QV_ME_IOMMU;
}
