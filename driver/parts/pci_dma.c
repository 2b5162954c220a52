// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chooses the memory that a PCI function of a cell may reach by DMA. The monitor can confine it to
 * the cell's memory if the monitor owns the IOMMU, and if each access of the function passes the
 * IOMMU under the function's own number.
 */
#include <linux/iommu.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include "qv.h"
#include "cells.h"
#include "parts/pci.h"

/* The functions of a group agree in the request that lists them, and in their holder */
struct pci_dma_group {
	const struct qv_cell_create *q;
	bool heir;			/* another cell has them, and this one waits */
};

static bool pci_dma_waits(const struct qv_cell_create *q, u32 bdf)
{
	u32 i;

	for (i = 0; i < q->num_devices; i++)
		if (q->devices[i].bdf == bdf)
			return q->devices[i].dma == QV_DMA_HEIR;
	return false;
}

/* Returns 1 if @dev is not given to the cell of @ctx together with the others */
static int pci_dma_is_foreign(struct device *dev, void *ctx)
{
	const struct pci_dma_group *group = ctx;
	u32 i;

	for (i = 0; dev_is_pci(dev) && i < group->q->num_devices; i++)
		if (pci_dev_id(to_pci_dev(dev)) == group->q->devices[i].bdf)
			return (group->q->devices[i].dma == QV_DMA_HEIR) != group->heir;
	return 1;
}

/* Returns true if the firmware uses memory of Linux by this group: Linux must keep it mapped */
static bool pci_dma_is_reserved(struct iommu_group *group)
{
	struct iommu_resv_region *region, *next;
	LIST_HEAD(regions);
	bool found = false;

	iommu_get_group_resv_regions(group, &regions);
	list_for_each_entry_safe(region, next, &regions, list) {
		found |= region->type == IOMMU_RESV_DIRECT;
		kfree(region);
	}
	return found;
}

static const char *pci_dma_check_group(const struct qv_cell *cell, struct pci_dev *pdev)
{
	struct pci_dma_group given = {
		cell->config, pci_dma_waits(cell->config, pci_dev_id(pdev))
	};
	struct iommu_group *group = iommu_group_get(&pdev->dev);
	const char *why = NULL;

	if (!group)
		return "Linux does not say which functions the IOMMU keeps apart (try iommu=pt)";
	if (iommu_group_for_each_dev(group, &given, pci_dma_is_foreign))
		why = "it can reach other functions of its IOMMU group past the IOMMU "
		      "(give the cell the whole group, or use another slot)";
	else if (pci_dma_is_reserved(group))
		why = "its firmware does DMA to memory of Linux";
	iommu_group_put(group);
	return why;
}

/* Returns true if its accesses carry another function's id, as a bridge's to conventional PCI */
static bool pci_dma_has_alias(const struct pci_dev *pdev)
{
	const struct pci_bus *bus;

	for (bus = pdev->bus; bus->self; bus = bus->parent)
		if (!pci_is_pcie(bus->self) ||
		    pci_pcie_type(bus->self) == PCI_EXP_TYPE_PCI_BRIDGE)
			return true;
	return pdev->dma_alias_mask;
}

/* Returns why the function cannot be confined to the cell's memory, or NULL */
static const char *pci_dma_obstacle(const struct qv_cell *cell, struct pci_dev *pdev)
{
	if (!qv_takeover.iommu)
		return "the monitor does not own the IOMMU (`qvctl status` says why)";
	if (qv_takeover.iommu_amd && cell->config->num_cpus > 1)
		return "AMD-Vi sends its interrupts to one CPU, and the cell has several";
	if (!qv_takeover.iommu_remaps)
		return "Linux does not remap interrupts, "
		       "so the function could send any interrupt to any CPU";
	if (pci_dma_has_alias(pdev))
		return "another function stands for it in its accesses";
	return pci_dma_check_group(cell, pdev);
}

void qv_pci_log_unsafe(const struct qv_cell *cell, const struct qv_pci_given *g, const char *how)
{
	if (g->dma == QV_DMA_UNSAFE)
		qv_log("driver",
		       "unsafe-dma: PCI function %s, %s cell %s, can read and write all memory",
		       pci_name(g->pdev), how, cell->name);
}

int qv_pci_choose_dma(struct qv_reply *r, const struct qv_cell *cell, struct pci_dev *pdev,
		      u32 *dma)
{
	const char *why = NULL;

	if (*dma > QV_DMA_BEST)
		return qv_refuse(r, QV_E_ARGUMENT, "",
				 "the DMA setting of PCI function %s is malformed", pci_name(pdev));
	if (*dma == QV_DMA_UNSAFE && qv_takeover.iommu)
		return qv_refuse(r, QV_E_DMA,
				 "use `dma: protected` or `dma: off`, or enable QV with --no-iommu",
				 "the monitor owns the IOMMU, "
				 "so PCI function %s cannot reach all memory", pci_name(pdev));
	if (*dma == QV_DMA_PROTECTED || *dma == QV_DMA_BEST)
		why = pci_dma_obstacle(cell, pdev);
	if (why && *dma == QV_DMA_PROTECTED)
		return qv_refuse(r, QV_E_DMA, "use `dma: off` (no DMA, no MSI)",
				 "the DMA of PCI function %s cannot be confined to the cell: %s",
				 pci_name(pdev), why);
	if (why)
		qv_log("driver", "DMA of PCI function %s is off: %s", pci_name(pdev), why);
	if (*dma == QV_DMA_BEST)
		*dma = why ? QV_DMA_OFF : QV_DMA_PROTECTED;
	return 0;
}
