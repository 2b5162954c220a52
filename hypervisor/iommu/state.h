/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of the IOMMU. A cell's instance uses .table.root only: the table of its devices. */
#ifndef QV_IOMMU_STATE_H
#define QV_IOMMU_STATE_H

#include "abi/iommu.h"
#include "abi/limits.h"
#include "tables/paging.h"

#define IOMMU_KEPT	17

struct iommu_unit {
	u64 status;		/* the unit stores the number of a wait request here */
	u32 waits;		/* number of the last wait request */
	u32 ring_len;		/* bytes of Linux's queue */
	u32 wide;		/* VT-d: 1: requests in queues have 32 bytes; 0: 16 */
	u64 pa, len;		/* of the registers: physical address, bytes */
	u64 queue;		/* the monitor's queue: physical address */
	u32 tail;		/* index of the next free request in it */
	/* of .steps: the next one of the take; 0: Linux drives the unit; else that is emulated */
	u32 step;
	u32 pending;		/* requests in it that the unit may not have carried out */
	/* the monitor's table of interrupts, or (AMD-Vi) log of events: physical address */
	u64 irt;
	u64 ring;		/* Linux's queue: physical address */
	u64 linux_irta;		/* Linux's value of VTD_IRTA, or (AMD-Vi) AMDVI_WIDE or 0 */
	u64 linux_root;		/* Linux's root table, or table of devices: physical address */
	u32 followed;		/* VT-d: not 0: contexts were followed for these requests */
	u32 linux_tail;		/* offset in .ring, behind the last request that was carried out */
	u32 remaps;		/* 1: the unit remaps interrupts, by the monitor's table */
	u32 translated;		/* 1: Linux's tables are used for its devices: contexts.c */
	u64 root;		/* physical address of its root table */
	u32 kept[IOMMU_KEPT];	/* Linux's values of other registers: unit_kept() */
};

struct iommu_state {
	struct paging table;	/* of all devices; .pt_pool is valid while the driver builds it */
	/* VT-d: root table of units that use no tables of Linux; AMD-Vi: table of devices */
	u64 root;
	u64 open;		/* an entry of a page that a device may read and write */
	u32 devices;		/* AMD-Vi: entries of the table of devices */
	u32 used_irts;		/* AMD-Vi: tables of interrupts that devices have */
	u64 irts;		/* AMD-Vi: the first of the tables of interrupts: address */
	u64 ids;		/* AMD-Vi: a struct qv_mon_iommu_ids: address */
	u64 contexts;		/* of the contexts of all buses without functions of cells */
	u64 pasids;		/* units that nest: the directory of PASIDs of functions: address */
	const struct iommu_ops *ops;	/* VT-d or AMD-Vi: unit.h */
	u32 steps;		/* behind the last step of the take of a unit: .take() of unit.h */
	u32 owned;		/* 1: the units belong to the monitor */
	u32 remaps;		/* 1: each unit remaps interrupts */
	u32 irtes;		/* entries of each unit's table of interrupts; a power of two */
	u32 lost;		/* 1: a unit did not answer and may use the monitor's tables */
	/* cells whose devices may still do DMA, or may not, by cached entries; bits are ids */
	u32 unsettled;
	/* entries of every unit's table for messages of the functions of the cell with this id */
	struct { u32 first, num; } messages[QV_INSTANCES];
	struct iommu_unit units[QV_MON_IOMMUS];
};

#endif
