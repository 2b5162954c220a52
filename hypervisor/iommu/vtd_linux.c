// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registers of a VT-d unit as Linux sees them while the monitor owns the unit, and Linux's
 * requests.
 */
#include "iommu/iommu.h"
#include "iommu/vtd.h"

/* Requests after changes of tables of devices or interrupts */
#define VTD_OF_TABLES	(1u << VTD_CONTEXTS | 1u << VTD_INTERRUPTS | 1u << VTD_PASIDS)

/* Entries of Linux's table of interrupts have changed. The unit drops all after the copy */
static bool interrupts(struct pcpu *cpu, struct iommu_unit *u, u64 low)
{
	u32 num = low & VTD_SOME ? VTD_NUM(low) : QV_MON_IRTES;
	u32 first = low & VTD_SOME ? VTD_FIRST(low) & ~(num - 1) : 0;

	if (!irt_copy(cpu, u, first, num))
		return false;
	unit_put(u, VTD_INTERRUPTS, 0);
	return true;
}

void vtd_flush_contexts(struct pcpu *cpu, struct iommu_unit *u)
{
	unit_put(u, VTD_CONTEXTS | VTD_GLOBAL, 0);
	/* not once Linux has a root table of legacy mode again: the unit would stop */
	if (VTD_MODE && unit_get(cpu, u, VTD_RTADDR) & VTD_MODE)
		unit_put(u, VTD_PASIDS | VTD_ALL_PASIDS, 0);
}

/*
 * A unit stops at a malformed request, so each is made again. It flushes all pages of a domain
 * where Linux asks for some
 */
static bool iotlb(struct iommu_unit *u, u64 low)
{
	u32 granularity = VTD_GRANULARITY(low);
	bool pasid = (low & 0xf) == VTD_PASID_IOTLB;

	if (granularity <= pasid)
		return false;
	low &= 0xf | VTD_DOMAIN | (pasid ? VTD_PASID : VTD_DRAIN);
	/* once the unit has the monitor's tables, it knows other PASIDs: contexts.c */
	if (pasid && me()->boot.iommus.nested && u->step == me()->iommu.steps)
		low = (low & VTD_DOMAIN) | VTD_IOTLB | VTD_DRAIN;
	unit_put(u, low | (granularity > 1 ? VTD_BY_DOMAIN : VTD_GLOBAL), 0);
	return true;
}

bool vtd_request(struct pcpu *cpu, struct iommu_unit *u, u64 low, u64 high)
{
	if ((low & 0xf) >= VTD_PASID_IOTLB && !me()->boot.iommus.stage)
		return false;
	/*
	 * Linux announces no device that it attaches, but then the device's interrupts. It has
	 * changed its tables before it wrote the tail, so the first such request is enough
	 */
	if (1u << (low & 0xf) & VTD_OF_TABLES && !u->followed++)
		contexts_follow(cpu, u);
	switch (low & 0xf) {
	case VTD_INTERRUPTS:
		return interrupts(cpu, u, low);
	case VTD_WAIT:
		return !(low & VTD_WAIT_IRQ) &&
		       unit_done(cpu, u, low & VTD_WAIT_STORE ? 4 : 0, high, low >> 32);
	case VTD_CONTEXTS:	/* the unit forgets all */
	case VTD_PASIDS:
		vtd_flush_contexts(cpu, u);
		return true;
	case VTD_IOTLB:
	case VTD_PASID_IOTLB:
		return iotlb(u, low);
	case VTD_DEVICE_TLB:
	case VTD_PASID_DEVICE_TLB:
		return true;		/* no device has translations of its own */
	}
	return false;
}

void vtd_write(struct pcpu *cpu, struct iommu_unit *u, u32 reg, u32 value)
{
	u32 *gsts = unit_kept(u, VTD_GSTS);

	u->followed = 0;
	/* Linux sees its command obeyed. The unit keeps its state */
	if (reg == VTD_GCMD)
		*gsts = (value & (VTD_LASTING | VTD_ONCE)) | (*gsts & ~VTD_LASTING);
	unit_write(cpu, u, reg, value);
}
