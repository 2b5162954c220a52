/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_IOMMU_TABLES_H
#define QV_IOMMU_TABLES_H

#include "core/instance.h"

/*
 * Makes the table of devices, and the root and context tables that send all devices to it. Call
 * it between identity_tables() and setup_rebase(). Linux loses the registers of the
 * units. Returns 0, or -1: the pool is empty.
 */
int iommu_tables(struct instance *inst);
/* True if the pool has enough pages for iommu_tables(). Call right before it. Nothing changes */
bool iommu_fits(const struct instance *inst);

#endif
