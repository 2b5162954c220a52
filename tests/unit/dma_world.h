/* SPDX-License-Identifier: GPL-2.0-only */
/* PCI functions that do DMA and send messages, and cells that have them. */
#ifndef DMA_WORLD_H
#define DMA_WORLD_H

#include "core/instance.h"

#define DMA_BAR(bdf)	(0xfe000000u + ((bdf) << 12))

void dma_world_set(u32 bdf, u32 reg, u32 value);	/* a register of config space */
/* A function with MSI at 0x40, and MSI-X at 0x60 with a table of four entries at DMA_BAR() */
void dma_world_function(u32 bdf);
struct qv_mon_device dma_world_device(u32 bdf, u32 flags);
/*
 * Returns a request, valid until the next call: one page of @memory, one CPU, the function @bdf as
 * bus master. The block and the console are 5 and 6 pages behind @memory.
 */
struct qv_mon_create *dma_world_request(u64 memory, u32 cpu, u32 bdf);

#endif
