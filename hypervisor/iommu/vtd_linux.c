// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registers of a VT-d unit as Linux sees them while the monitor owns the unit, and Linux's
 * requests.
 */
#include "iommu/iommu.h"
#include "iommu/vtd.h"

/* VTD_INTERRUPTS: all entries or some (bit 4), how many (31..27), the first (47..32) */
#define INTERRUPTS	(0xfull | 1u << 4 | 0x1full << 27 | 0xffffull << 32)

/* Entries of Linux's table of interrupts have changed. The unit drops them after the copy */
static bool interrupts(struct pcpu *cpu, struct iommu_unit *u, u64 low)
{
	u32 num = low & VTD_SOME ? VTD_NUM(low) : QV_MON_IRTES;
	u32 first = low & VTD_SOME ? VTD_FIRST(low) & ~(num - 1) : 0;

	if (!irt_copy(cpu, u, first, num))
		return false;
	unit_put(u, low & INTERRUPTS, 0);
	return true;
}

void vtd_flush_contexts(struct pcpu *cpu, struct iommu_unit *u)
{
	unit_put(u, VTD_CONTEXTS | VTD_GLOBAL, 0);
	/* not once Linux has a root table of legacy mode again: the unit would stop */
	if (VTD_MODE && unit_get(cpu, u, VTD_RTADDR) & VTD_MODE)
		unit_put(u, VTD_PASIDS | VTD_ALL_PASIDS, 0);
}

/* A unit stops at a malformed request, so each is made again. It may flush more than Linux asks */
static bool iotlb(struct iommu_unit *u, u64 low, u64 high)
{
	u32 granularity = VTD_GRANULARITY(low), order = VTD_ORDER(high);
	bool pasid = (low & 0xf) == VTD_PASID_IOTLB;

	if (granularity <= pasid)
		return false;
	if (granularity == VTD_BY_PAGE && order >= u->flushes)
		granularity = VTD_BY_DOMAIN;
	low &= 0xf | VTD_DOMAIN | (pasid ? VTD_PASID : VTD_DRAIN);
	unit_put(u, low | granularity << 4,
		granularity != VTD_BY_PAGE ? 0 :
		(high & PT_ADDR & ~(((u64)QV_PAGE << order) - 1)) | order);
	return true;
}

bool vtd_request(struct pcpu *cpu, struct iommu_unit *u, u64 low, u64 high)
{
	if ((low & 0xf) >= VTD_PASID_IOTLB && !me()->boot.iommus.stage)
		return false;
	switch (low & 0xf) {
	case VTD_INTERRUPTS:
		return interrupts(cpu, u, low);
	case VTD_WAIT:
		return !(low & VTD_WAIT_IRQ) &&
		       unit_done(cpu, u, low & VTD_WAIT_STORE ? 4 : 0, high, low >> 32);
	case VTD_CONTEXTS:	/* Linux's entries have been followed: the unit forgets all */
	case VTD_PASIDS:
		vtd_flush_contexts(cpu, u);
		return true;
	case VTD_IOTLB:
	case VTD_PASID_IOTLB:
		return iotlb(u, low, high);
	case VTD_DEVICE_TLB:
	case VTD_PASID_DEVICE_TLB:
		return true;		/* no device has translations of its own */
	}
	return false;
}

void vtd_write(struct pcpu *cpu, struct iommu_unit *u, u32 reg, u32 value)
{
	u32 *gsts = unit_kept(u, VTD_GSTS);

	if (reg == VTD_IQT)
		contexts_follow(cpu, u);
	/* Linux sees its command obeyed. The unit keeps its state */
	if (reg == VTD_GCMD)
		*gsts = (value & (VTD_LASTING | VTD_ONCE)) | (*gsts & ~VTD_LASTING);
	unit_write(cpu, u, reg, value);
}
