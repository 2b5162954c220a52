// SPDX-License-Identifier: GPL-2.0-only
#include "iommu/iommu.h"
#include "tables/nested.h"

void linux_memory(u64 pa, u64 len, enum linux_access access)
{
	front_set(&me()->nested, pa, len, access);
	iommu_follow(me(), pa, len, access == LINUX_ALL);
}
