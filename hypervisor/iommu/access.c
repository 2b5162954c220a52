// SPDX-License-Identifier: GPL-2.0-only
/* The registers of a unit as Linux sees them while the monitor owns the unit. */
#include "abi/log.h"
#include "core/log.h"
#include "core/pci.h"
#include "iommu/iommu.h"
#include "iommu/vtd.h"

u32 vtd_read(struct pcpu *cpu, struct iommu_unit *u, u32 reg)
{
	const u32 *value = vtd_kept(u, reg);

	if (value)
		return *value;
	switch (reg) {
	case VTD_GSTS:
		return u->gsts;
	case VTD_IQH:
	case VTD_IQT:
		return u->linux_tail;
	case VTD_FSTS:			/* the monitor reads faults; Linux sees none */
	case VTD_IQH + 4:
	case VTD_IQT + 4:
		return 0;
	}
	return device_read(cpu, u->pa + reg);
}

void vtd_write(struct pcpu *cpu, struct iommu_unit *u, u32 reg, u32 value)
{
	u32 refused;

	if (reg >= VTD_FECTL && reg <= VTD_FEUADDR) {
		*vtd_kept(u, reg) = value;	/* for later: the unit sends no fault interrupt */
	} else if (reg == VTD_IQT) {
		refused = vtd_queue(cpu, u, value);
		if (refused)
			log_denied(cpu, QV_LOG_IOMMU, reg, refused);
	} else if (reg == VTD_GCMD) {
		/* Linux sees its command obeyed. The unit keeps its state */
		u->gsts = (value & (VTD_LASTING | VTD_ONCE)) | (u->gsts & ~VTD_LASTING);
		log_denied(cpu, QV_LOG_IOMMU, reg, value);
	} else if (reg != VTD_FSTS) {
		log_denied(cpu, QV_LOG_IOMMU, reg, value);
	}
}
