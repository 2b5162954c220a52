// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides whether a PCI function may be given to a cell: its kind, its registers. Changes
 * nothing.
 */
#include <linux/pci.h>
#include "qv.h"
#include "cells.h"
#include "cross.h"
#include "parts/pci.h"
#include "parts/ports.h"

int qv_pci_refuse(struct qv_reply *r, const struct pci_dev *pdev, const char *remedy,
		  const char *why)
{
	return qv_refuse(r, QV_E_DEVICE, remedy, "PCI function %s %s", pci_name(pdev), why);
}

static int pci_check_kind(struct qv_reply *r, const struct qv_cell *cell,
			  const struct pci_dev *pdev, bool heir)
{
	if (pdev->hdr_type != PCI_HEADER_TYPE_NORMAL || pdev->class >> 16 == PCI_BASE_CLASS_BRIDGE)
		return qv_pci_refuse(r, pdev, "give what is behind it",
				     "is a bridge, and bridges stay with Linux");
	if (pci_num_vf((struct pci_dev *)pdev))
		return qv_pci_refuse(r, pdev, "switch them off, or give the cell one of them",
				     "has virtual functions");
	if (pdev->is_virtfn && cell->config->dma_level > QV_LEVEL_DEVICES)
		return qv_refuse(r, QV_E_DMA,
				 "choose `dma-protection: devices`, or another function",
				 "PCI function %s is virtual: Linux, whose driver has the physical "
				 "function, can lead its DMA to any memory of the cell",
				 pci_name(pdev));
	if (qv_pci_is_bound(pdev) && !heir)
		return qv_pci_refuse(r, pdev, "see 'qvctl cell list' for its cell",
				     "belongs to another cell");
	if (((u64)pci_dev_id((struct pci_dev *)pdev) << 12) >= qv_firmware.ecam_len)
		return qv_pci_refuse(r, pdev,
				     "use a machine (or firmware setting) "
				     "with memory-mapped config space",
				     "has no memory-mapped config space "
				     "(no ACPI table MCFG that covers it)");
	return 0;
}

static bool pci_check_is_memory(const struct pci_dev *pdev, int i)
{
	return pci_resource_len(pdev, i) && (pci_resource_flags(pdev, i) & IORESOURCE_MEM);
}

/* Returns another function with registers or ROM in the same page as BAR @i of @pdev, or NULL */
static const struct pci_dev *pci_check_neighbour(const struct pci_dev *pdev, int i)
{
	u64 start = pci_resource_start(pdev, i) & PAGE_MASK;
	u64 end = PAGE_ALIGN(pci_resource_end(pdev, i) + 1);
	struct pci_dev *other = NULL;
	int k;

	for_each_pci_dev(other)
		for (k = 0; other != pdev && k <= PCI_ROM_RESOURCE; k++)
			if (pci_check_is_memory(other, k) && pci_resource_start(other, k) < end &&
			    pci_resource_end(other, k) >= start) {
				pci_dev_put(other);
				return other;
			}
	return NULL;
}

static int pci_check_bars(struct qv_reply *r, const struct qv_cell *cell,
			  const struct pci_dev *pdev, bool heir)
{
	const struct pci_dev *other;
	int i, error;

	for (i = 0; i < PCI_STD_NUM_BARS; i++) {
		if (!heir && pci_resource_len(pdev, i) &&
		    (pci_resource_flags(pdev, i) & IORESOURCE_IO)) {
			error = qv_ports_refuse_taken(r, cell, pci_resource_start(pdev, i),
						      pci_resource_end(pdev, i));
			if (error)
				return error;
		}
		if (!pci_check_is_memory(pdev, i))
			continue;
		if (pci_resource_flags(pdev, i) & IORESOURCE_UNSET)
			return qv_pci_refuse(r, pdev,
					     "see the kernel log (dmesg) "
					     "for those that Linux could not place",
					     "has registers that are not placed in memory");
		other = pci_check_neighbour(pdev, i);
		if (other)
			return qv_refuse(r, QV_E_DEVICE,
					 "boot with pci=resource_alignment=12@BUS:DEV.FN "
					 "for one of them",
					 "PCI function %s has registers "
					 "in one page of 4 KiB with %s",
					 pci_name(pdev), pci_name(other));
		if (pci_resource_start(pdev, i) < cell->config->memory)
			return qv_refuse(r, QV_E_DEVICE, "give the cell less memory",
					 "PCI function %s has registers at %#llx, "
					 "where the cell's memory is",
					 pci_name(pdev), (u64)pci_resource_start(pdev, i));
	}
	if (qv_firmware.ecam_pa < cell->config->memory)
		return qv_refuse(r, QV_E_DEVICE, "give the cell less memory",
				 "PCI config space lies at %#llx, where the cell's memory is",
				 qv_firmware.ecam_pa);
	return 0;
}

int qv_pci_check_function(struct qv_reply *r, const struct qv_cell *cell,
			  const struct pci_dev *pdev, bool heir)
{
	return pci_check_kind(r, cell, pdev, heir) ?: pci_check_bars(r, cell, pdev, heir);
}
