/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_IOMMU_ENTRIES_H
#define QV_IOMMU_ENTRIES_H

#include "abi/iommu.h"
#include "cross/iommu_contexts.h"

/* VT-d: returns why the @num entries of interrupts cannot be replaced, or NULL */
const char *iommu_check_irtes(const u64 *entry, u32 num);

/* AMD-Vi: returns why a unit with these registers cannot be taken, or NULL */
const char *iommu_check_amdvi(u64 control, u64 features, u64 queue, u64 exclusion);

/*
 * AMD-Vi: returns why the entry of a device cannot be replaced, or NULL. Then *@used is true if a
 * device has it. @units: learns whether Linux translates, and that there is one more table of
 * interrupts.
 */
const char *iommu_check_device(iommu_table *table, const u64 *entry, struct qv_mon_iommus *units,
			       bool *used);

#endif
