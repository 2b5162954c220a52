/* SPDX-License-Identifier: GPL-2.0-only */
/* The IOMMU's units that the monitor is to take over. The driver has checked that it can. */
#ifndef QV_ABI_IOMMU_H
#define QV_ABI_IOMMU_H

#include "abi/types.h"

#define QV_MON_IOMMUS		8	/* units */
#define QV_MON_IO_HOLES		64
#define QV_MON_IRTES		2048	/* entries that a unit has for devices of Linux */
#define QV_MON_DEVICE_IRTES	512	/* AMD-Vi: entries that each device has */
#define QV_MON_IO_IDS		256

/* AMD-Vi: a page of the monitor */
struct qv_mon_iommu_ids {
	u16 ids[QV_MON_IO_IDS];		/* bus, device and function; the driver writes them */
	/* of each table of interrupts: the number behind the last entry in use */
	u16 irt_ends[QV_MON_IO_IDS];
};

struct qv_mon_iommus {
	u32 num;		/* 0: Linux keeps its units, and nothing restricts DMA */
	u32 num_dma_holes;
	/*
	 * The first of QV_INSTANCES numbers of tables ("domains") that each unit has and that Linux
	 * does not use: for the table of the monitor, and for one of each cell
	 */
	u32 domain;
	/*
	 * Bits are units: Linux translates the addresses of devices, so its tables are used for its
	 * devices. Else they use the monitor's table
	 */
	u32 translated;
	/*
	 * VT-d: 0: tables of legacy mode; else scalable mode, where the monitor's tables have the
	 * format of this stage, 1 or 2
	 */
	u32 stage;
	/*
	 * VT-d whose units nest Linux's tables in the monitor's table: pages that the copies of
	 * Linux's contexts and PASIDs may need. 0: they do not, so Linux's tables are trusted
	 */
	u32 nested;
	struct { u64 pa, len; } units[QV_MON_IOMMUS];	/* their registers, whole pages */
	/* memory that no device may reach: registers of devices, in whole pages */
	struct { u64 start, end; } dma_holes[QV_MON_IO_HOLES];
	u32 amd;		/* 1: AMD-Vi, whose units share all tables; 0: VT-d */
	u32 device_pages;	/* AMD-Vi: pages of Linux's table of devices */
	u32 num_irts;		/* AMD-Vi: devices that may have interrupts */
	u32 num_ids;		/* AMD-Vi: entries of struct qv_mon_iommu_ids */
};

#endif
