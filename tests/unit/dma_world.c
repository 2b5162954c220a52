// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include "core/cpu.h"
#include "core/pci.h"
#include "dma_world.h"
#include "fake.h"

void dma_world_set(u32 bdf, u32 reg, u32 value)
{
	device_write(pcpu_of(0), FAKE_ECAM + (bdf << 12) + reg, value);
}

void dma_world_function(u32 bdf)
{
	dma_world_set(bdf, 0, 0x11e81234);
	dma_world_set(bdf, 4, 1u << 20 | 7);
	dma_world_set(bdf, 8, 0x00ff0010);
	dma_world_set(bdf, 12, 0);
	dma_world_set(bdf, 0x10, DMA_BAR(bdf));
	dma_world_set(bdf, 0x34, 0x40);
	dma_world_set(bdf, 0x40, 0x00806005);
	dma_world_set(bdf, 0x60, 0x00030011);
	dma_world_set(bdf, 0x64, 0);
}

struct qv_mon_device dma_world_device(u32 bdf, u32 flags)
{
	return (struct qv_mon_device){ .bdf = bdf, .flags = flags, .ioapic = QV_MON_NO_PIN,
				       .bars = { { .base = DMA_BAR(bdf), .len = QV_PAGE } } };
}

struct qv_mon_create *dma_world_request(u64 memory, u32 cpu, u32 bdf)
{
	static struct qv_mon_create q;

	memset(&q, 0, sizeof(q));
	q.block_pa = memory + 5 * QV_HUGE;
	q.console_pa = memory + 6 * QV_HUGE;
	q.num_cpus = 1;
	q.bell_rate = 10;
	q.cpus[0] = cpu;
	q.num_runs = 1;
	q.runs[0] = (struct qv_mon_run){ memory, 1 };
	q.entry.eip = 0x100000;
	q.num_devices = 1;
	q.devices[0] = dma_world_device(bdf, QV_MON_DEVICE_MASTER);
	return &q;
}
