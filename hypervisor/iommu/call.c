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
	bool done, cells = false;
	u32 i;

	if (what == QV_IOMMU_LOOK && me()->iommu.owned)
		return iommu_look(cpu) ? QV_ME_OK : QV_ME_IOMMU;
	if (me()->iommu.lost && what <= QV_IOMMU_GIVE)
		return QV_ME_IOMMU;
	for (i = 1; i < QV_INSTANCES; i++)
		cells |= !!me()->manager.cells[i].state;
	/* Linux is trusted before the first cell. After the last, nothing is protected */
	if (what > QV_IOMMU_GIVE || cells || me()->iommu.owned == (what == QV_IOMMU_TAKE))
		return QV_ME_STATE;
	/* Linux may have had the registers since the monitor gave the units back */
	done = what == QV_IOMMU_TAKE ? registers(cpu, LINUX_NONE) && iommu_take(cpu) :
				       iommu_give(cpu);
	if (what == QV_IOMMU_GIVE && me()->iommu.owned)
		return QV_ME_BUSY;		/* a CPU uses a unit; nothing has changed */
	if (!me()->iommu.owned)
		registers(cpu, LINUX_ALL);
	return done ? QV_ME_OK : QV_ME_IOMMU;
}
