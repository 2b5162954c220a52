// SPDX-License-Identifier: GPL-2.0-only
/*
 * driver/parts/pci_dma.c: functions whose DMA cannot be confined to a cell. No emulator has memory
 * that the firmware reserves for a device (RMRR, IVMD), nor devices with aliases of their own.
 */
#include <linux/pci.h>
#include <string.h>
#include "qv.h"
#include "cells.h"
#include "abi/errors.h"
#include "parts/pci.h"
#include "unit.h"

#define FUNCTION	0x28u
#define OTHER		0x29u

struct iommu_group {
	struct device *devices[2];
	int regions[2];			/* types of reserved ones; -1: no region */
	int users;
};

struct qv_takeover qv_takeover;

static struct iommu_group group;
static struct pci_bus root, below;
static struct pci_dev function, other, bridge;
static struct qv_cell_create config;
static struct qv_cell cell;
static struct qv_reply reply;

struct iommu_group *iommu_group_get(struct device *dev)
{
	struct iommu_group *found = to_pci_dev(dev)->group;

	if (found)
		found->users++;
	return found;
}

void iommu_group_put(struct iommu_group *g)
{
	g->users--;
}

int iommu_group_for_each_dev(struct iommu_group *g, void *ctx,
			     int (*what)(struct device *dev, void *ctx))
{
	int result = 0;
	u32 i;

	for (i = 0; i < 2 && !result; i++)
		if (g->devices[i])
			result = what(g->devices[i], ctx);
	return result;
}

int iommu_get_group_resv_regions(struct iommu_group *g, struct list_head *regions)
{
	struct iommu_resv_region *region;
	u32 i;

	for (i = 0; i < 2; i++) {
		if (g->regions[i] < 0)
			continue;
		region = kzalloc(sizeof(*region), GFP_KERNEL);
		region->type = g->regions[i];
		list_add_tail(&region->list, regions);
	}
	return 0;
}

int qv_pci_refuse(struct qv_reply *r, const struct pci_dev *pdev, const char *remedy,
		  const char *why)
{
	return qv_refuse(r, QV_E_DEVICE, remedy, "PCI function %s %s", pci_name(pdev), why);
}

/* A function alone in its group, of a cell with one CPU; the monitor owns the IOMMU */
static void prepare(void)
{
	memset(&function, 0, sizeof(function));
	memset(&other, 0, sizeof(other));
	memset(&bridge, 0, sizeof(bridge));
	memset(&config, 0, sizeof(config));
	root = below = (struct pci_bus){ 0 };
	group = (struct iommu_group){ { &function.dev, NULL }, { IOMMU_RESV_MSI, -1 }, 0 };
	function.bdf = FUNCTION;
	function.bus = &root;
	function.group = &group;
	other.bdf = OTHER;
	config.num_cpus = 1;
	config.num_devices = 1;
	config.devices[0].bdf = FUNCTION;
	cell.config = &config;
	qv_log_init();
	qv_takeover = (struct qv_takeover){ .iommu = true, .iommu_remaps = true };
}

static int choose(u32 wanted, u32 *dma)
{
	int error;

	memset(&reply, 0, sizeof(reply));
	*dma = wanted;
	error = qv_pci_choose_dma(&reply, &cell, &function, dma);
	CHECK_EQ(group.users, 0);
	return error;
}

/* NULL: it is confined. Else it is refused if the file asks for that, with these words */
static void check(const char *why)
{
	u32 dma;

	CHECK_EQ(choose(QV_DMA_PROTECTED, &dma), why ? -EINVAL : 0);
	if (why) {
		CHECK_EQ(reply.code, QV_E_DMA);
		CHECK(strstr(reply.text, why) && strstr(reply.remedy, "dma: off"));
	}
	CHECK_EQ(choose(QV_DMA_BEST, &dma), 0);
	CHECK_EQ(dma, why ? QV_DMA_OFF : QV_DMA_PROTECTED);
	CHECK_EQ(choose(QV_DMA_OFF, &dma), 0);
	CHECK_EQ(dma, QV_DMA_OFF);
	CHECK_EQ(choose(QV_DMA_UNSAFE, &dma), qv_takeover.iommu ? -EINVAL : 0);
}

static void groups(void)
{
	prepare();
	check(NULL);
	group.devices[1] = &other.dev;
	check("past the IOMMU");
	config.devices[config.num_devices++].bdf = OTHER;	/* the cell has the whole group */
	check(NULL);
	config.devices[1].dma = QV_DMA_HEIR;		/* another cell has it, not this one */
	check("past the IOMMU");
	config.devices[0].dma = QV_DMA_HEIR;		/* this cell waits for both */
	check(NULL);
	function.group = NULL;
	check("iommu=pt");
}

static void reserved(void)
{
	prepare();
	group.regions[1] = IOMMU_RESV_DIRECT;
	check("its firmware does DMA to memory of Linux");
}

static void aliases(void)
{
	unsigned long mask = 1;

	prepare();
	function.dma_alias_mask = &mask;
	check("another function");
	prepare();
	function.bus = &below;
	below = (struct pci_bus){ .parent = &root, .self = &bridge };
	check(NULL);					/* a port of PCI Express */
	bridge.type = PCI_EXP_TYPE_PCI_BRIDGE;
	check("another function");
	bridge.type = 0;
	bridge.conventional = true;
	check("another function");
}

static void machines(void)
{
	prepare();
	qv_takeover.iommu_remaps = false;
	check("remap interrupts");
	prepare();
	qv_takeover.iommu = false;
	check("does not own the IOMMU");
	prepare();
	qv_takeover.iommu_amd = true;
	check(NULL);
	config.num_cpus = 2;
	check("several");
}

UNIT_SUITE(pci_dma) = {
	{ "PCI DMA: a function is given with its whole IOMMU group", groups },
	{ "PCI DMA: a function with reserved memory is not confined", reserved },
	{ "PCI DMA: a function with aliases is not confined", aliases },
	{ "PCI DMA: a machine that cannot confine functions says why", machines },
	{ 0 }
};
