// SPDX-License-Identifier: GPL-2.0-only
/* All units: their owner, and the lock. One CPU at a time uses a unit. */
#include "core/cpu.h"
#include "core/gmem.h"
#include "core/lock.h"
#include "core/pci.h"
#include "core/vendor.h"
#include "iommu/iommu.h"

u32 iommu_units(void)
{
	return me()->boot.iommus.num < QV_MON_IOMMUS ? me()->boot.iommus.num : QV_MON_IOMMUS;
}

static u32 unit_of(u64 gpa)
{
	u32 i;

	for (i = 0; i < iommu_units(); i++)
		if (gpa - me()->boot.iommus.units[i].pa < me()->boot.iommus.units[i].len)
			break;
	return i;
}

bool iommu_page(u64 gpa)
{
	return unit_of(gpa) < iommu_units();
}

bool iommu_access(struct pcpu *cpu, u64 gpa, bool write)
{
	struct iommu_unit *u = &me()->iommu.units[unit_of(gpa)];
	bool owned;
	struct decoded d;

	if (!mmio_decode(cpu, &d) || d.op != (write ? DECODE_STORE : DECODE_LOAD) || d.size != 4 ||
	    gpa & 3)
		return false;
	if (!lock_take(cpu, LOCK_IOMMU, LOCK_PATIENCE))
		return true;		/* Linux executes the instruction again */
	owned = me()->iommu.owned;
	if (!write)
		cpu->regs[d.reg] = owned ? vtd_read(cpu, u, gpa - u->pa) : device_read(cpu, gpa);
	else if (owned)
		vtd_write(cpu, u, gpa - u->pa, d.value);
	else
		device_write(cpu, gpa, d.value);	/* before the call of the driver */
	lock_drop(LOCK_IOMMU);
	vendor_skip(cpu, d.len);
	return true;
}

static bool give_first(struct pcpu *cpu, u32 num)
{
	bool all = true;
	u32 i;

	for (i = 0; i < num; i++)
		all &= vtd_give(cpu, &me()->iommu.units[i]);
	me()->iommu.lost |= !all;
	return all;
}

bool iommu_take(struct pcpu *cpu)
{
	u32 i = 0;

	if (me()->iommu.owned || !iommu_units() || !lock_take(cpu, LOCK_IOMMU, LOCK_PATIENCE))
		return false;
	me()->iommu.remaps = true;
	for (; i < iommu_units() && vtd_take(cpu, &me()->iommu.units[i]); i++)
		me()->iommu.remaps &= me()->iommu.units[i].remaps;
	me()->iommu.owned = i == iommu_units();
	if (!me()->iommu.owned)
		give_first(cpu, i);
	lock_drop(LOCK_IOMMU);
	return me()->iommu.owned;
}

bool iommu_give(struct pcpu *cpu)
{
	bool all;

	if (!me()->iommu.owned || !lock_take(cpu, LOCK_IOMMU, LOCK_PATIENCE))
		return false;
	all = give_first(cpu, iommu_units());
	me()->iommu.owned = false;
	lock_drop(LOCK_IOMMU);
	return all;
}

bool iommu_look(struct pcpu *cpu)
{
	u32 i;

	if (!lock_take(cpu, LOCK_IOMMU, LOCK_PATIENCE))
		return false;
	for (i = 0; i < iommu_units(); i++) {
		contexts_follow(cpu, &me()->iommu.units[i]);
		vtd_faults(cpu, &me()->iommu.units[i]);
	}
	lock_drop(LOCK_IOMMU);
	return true;
}

bool iommu_own(struct pcpu *cpu, u32 bus)
{
	bool all = true;
	u32 i;

	if (!lock_take(cpu, LOCK_IOMMU, LOCK_PATIENCE))
		return false;
	for (i = 0; i < iommu_units(); i++)
		all &= contexts_own(cpu, &me()->iommu.units[i], bus);
	lock_drop(LOCK_IOMMU);
	return all;
}

bool iommu_flush(struct pcpu *cpu)
{
	bool all = true;
	u32 i;

	if (!me()->iommu.owned)
		return true;
	if (!lock_take(cpu, LOCK_IOMMU, LOCK_PATIENCE))
		return false;
	for (i = 0; i < iommu_units(); i++)
		all &= vtd_flush(cpu, &me()->iommu.units[i]);
	lock_drop(LOCK_IOMMU);
	return all;
}
