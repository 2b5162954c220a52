// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cell's PCI functions: taken from their Linux driver, reset, silenced and described to the
 * monitor; afterwards restored and given back. While a cell has a function, the driver of this
 * module is bound to it, so that no other driver can bind.
 */
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdomain.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include "abi/create.h"
#include "qv.h"
#include "cells.h"
#include "cross.h"

/* a pin's vector is this plus the number of its device in the cell */
#define PIN_FIRST_VECTOR	0x40

/* ---- the driver of this module: binds to qv_pci_wanted only ---- */

static struct pci_dev *qv_pci_wanted;
static bool qv_pci_registered;

static int qv_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	return pdev == READ_ONCE(qv_pci_wanted) ? 0 : -ENODEV;
}

/* Either qv_pci_give() unbinds the function, or it was removed while a cell has it */
static void qv_pci_removed(struct pci_dev *pdev)
{
	if (pdev != READ_ONCE(qv_pci_wanted))
		qv_log("driver", "PCI function %s vanished under its cell", pci_name(pdev));
}

static const struct pci_device_id qv_pci_any_id[] = { { PCI_DEVICE(PCI_ANY_ID, PCI_ANY_ID) }, { 0 } };

static struct pci_driver qv_pci_driver = {
	.name = "qv-cell",
	.id_table = qv_pci_any_id,
	.probe = qv_pci_probe,
	.remove = qv_pci_removed,
	.driver.suppress_bind_attrs = true,
};

static int qv_pci_bind(struct pci_dev *pdev)
{
	int error = 0;

	WRITE_ONCE(qv_pci_wanted, pdev);
	if (!qv_pci_registered) {
		error = pci_register_driver(&qv_pci_driver);
		qv_pci_registered = !error;
	}
	if (!error && pdev->driver != &qv_pci_driver)
		error = device_driver_attach(&qv_pci_driver.driver, &pdev->dev);
	WRITE_ONCE(qv_pci_wanted, NULL);
	return pdev->driver == &qv_pci_driver ? 0 : error ? error : -EBUSY;
}

static void qv_pci_unbind(struct pci_dev *pdev)
{
	WRITE_ONCE(qv_pci_wanted, pdev);
	device_release_driver(&pdev->dev);
	WRITE_ONCE(qv_pci_wanted, NULL);
}

void qv_pci_exit(void)
{
	if (qv_pci_registered)
		pci_unregister_driver(&qv_pci_driver);
}

/* ---- checks before a function is taken ---- */

static int qv_pci_refuse(struct qv_reply *r, const struct pci_dev *pdev, const char *remedy, const char *why)
{
	return qv_refuse(r, QV_E_DEVICE, remedy, "PCI function %s %s", pci_name(pdev), why);
}

static int qv_pci_check_kind(struct qv_reply *r, const struct pci_dev *pdev)
{
	if (pdev->hdr_type != PCI_HEADER_TYPE_NORMAL || pdev->class >> 16 == PCI_BASE_CLASS_BRIDGE)
		return qv_pci_refuse(r, pdev, "give what is behind it", "is a bridge, and bridges stay with Linux");
	if (pdev->is_virtfn || pci_num_vf((struct pci_dev *)pdev))
		return qv_pci_refuse(r, pdev, "switch its virtual functions off, or choose another",
			      "has to do with SR-IOV, which QV does not know yet");
	if (pdev->driver == &qv_pci_driver)
		return qv_pci_refuse(r, pdev, "see 'qvctl cell list' for who has it", "belongs to another cell");
	if (((u64)pci_dev_id((struct pci_dev *)pdev) << 12) >= qv_firmware.ecam_len)
		return qv_pci_refuse(r, pdev, "use a machine (or firmware setting) with memory-mapped config space",
			      "has no memory-mapped config space (no ACPI table MCFG that covers it)");
	return 0;
}

static int qv_pci_check_dma(struct qv_reply *r, const struct pci_dev *pdev, u32 dma)
{
	if (dma > QV_DMA_UNSAFE)
		return qv_refuse(r, QV_E_ARGUMENT, "", "the DMA setting of PCI function %s is malformed",
				 pci_name(pdev));
	if (dma == QV_DMA_PROTECTED)
		return qv_refuse(r, QV_E_DMA, "add `dma: off` (no DMA, no MSI), or, if the inmate and the device may "
				 "write all memory, `unsafe-dma: true`",
				 "PCI function %s can do DMA, and QV drives no IOMMU yet that would hold it back",
				 pci_name(pdev));
	return 0;
}

static bool qv_pci_memory_bar(const struct pci_dev *pdev, int i)
{
	return pci_resource_len(pdev, i) && (pci_resource_flags(pdev, i) & IORESOURCE_MEM);
}

/* Returns another function with registers or ROM in the same page as BAR @i of @pdev, or NULL */
static const struct pci_dev *qv_pci_neighbour(const struct pci_dev *pdev, int i)
{
	u64 start = pci_resource_start(pdev, i) & PAGE_MASK;
	u64 end = PAGE_ALIGN(pci_resource_end(pdev, i) + 1);
	struct pci_dev *other = NULL;
	int k;

	for_each_pci_dev(other)
		for (k = 0; other != pdev && k <= PCI_ROM_RESOURCE; k++)
			if (qv_pci_memory_bar(other, k) && pci_resource_start(other, k) < end &&
			    pci_resource_end(other, k) >= start) {
				pci_dev_put(other);
				return other;
			}
	return NULL;
}

static int qv_pci_check_bars(struct qv_reply *r, const struct qv_cell *cell, const struct pci_dev *pdev)
{
	const struct pci_dev *other;
	int i, error;

	for (i = 0; i < PCI_STD_NUM_BARS; i++) {
		if (pci_resource_len(pdev, i) && (pci_resource_flags(pdev, i) & IORESOURCE_IO)) {
			error = qv_ports_check(r, cell, pci_resource_start(pdev, i), pci_resource_end(pdev, i));
			if (error)
				return error;
		}
		if (!qv_pci_memory_bar(pdev, i))
			continue;
		if (pci_resource_flags(pdev, i) & IORESOURCE_UNSET)
			return qv_pci_refuse(r, pdev, "see the kernel log (dmesg) for what Linux could not place",
				      "has registers that are not placed in memory");
		other = qv_pci_neighbour(pdev, i);
		if (other)
			return qv_refuse(r, QV_E_DEVICE, "boot with pci=resource_alignment=12@BUS:DEV.FN for one of them",
					 "PCI function %s has registers in one page of 4 KiB with %s",
					 pci_name(pdev), pci_name(other));
		if (pci_resource_start(pdev, i) < cell->config->memory)
			return qv_refuse(r, QV_E_DEVICE, "give the cell less memory",
					 "PCI function %s has registers at %#llx, where the cell's memory is",
					 pci_name(pdev), (u64)pci_resource_start(pdev, i));
	}
	if (qv_firmware.ecam_pa < cell->config->memory)
		return qv_refuse(r, QV_E_DEVICE, "give the cell less memory",
				 "PCI config space lies at %#llx, where the cell's memory is", qv_firmware.ecam_pa);
	return 0;
}

/* ---- the description for the monitor and for the inmate ---- */

/* Returns true if message and pin interrupts go through a remapping table, which Linux controls */
static bool qv_pci_remapped(void)
{
	return qv_irqs_remapped() || qv_takeover.x2apic;
}

static void qv_pci_describe_pin(struct qv_pci_given *g, u32 number)
{
	const struct irq_data *d = g->pdev->pin ? irq_get_irq_data(g->pdev->irq) : NULL;

	g->monitor.ioapic = QV_MON_NO_PIN;
	if (!d || qv_pci_remapped() || !d->chip || strcmp(d->chip->name, "IO-APIC"))
		return;
	if (irq_has_action(g->pdev->irq)) {
		qv_log("driver", "the interrupt line of PCI function %s is shared with another device: "
		       "it is not connected", pci_name(g->pdev));
		return;
	}
	/* index in the order of the MADT */
	g->monitor.ioapic = (unsigned long)d->domain->host_data;
	g->monitor.pin = d->hwirq;
	g->monitor.vector = PIN_FIRST_VECTOR + number;
	if (irqd_get_trigger_type((struct irq_data *)d) == IRQ_TYPE_LEVEL_HIGH)
		g->monitor.flags |= QV_MON_DEVICE_HIGH;
	g->state |= QV_DEVICE_PIN;
}

static void qv_pci_describe_one(struct qv_pci_given *g, u32 number, u32 dma)
{
	int i;

	g->monitor.bdf = pci_dev_id(g->pdev);
	if (dma == QV_DMA_UNSAFE)
		g->monitor.flags |= QV_MON_DEVICE_MASTER;
	if (dma == QV_DMA_UNSAFE && !qv_pci_remapped())
		g->state |= QV_DEVICE_MESSAGES;
	qv_pci_describe_pin(g, number);
	for (i = 0; i < QV_MON_BARS; i++) {
		struct qv_mon_bar *bar = &g->monitor.bars[i];

		bar->base = pci_resource_start(g->pdev, i);
		bar->len = pci_resource_len(g->pdev, i);
		bar->ports = !!(pci_resource_flags(g->pdev, i) & IORESOURCE_IO);
		if (bar->len && !bar->ports)
			bar->len = PAGE_ALIGN(bar->len);
	}
}

void qv_pci_info(const struct qv_cell *cell, struct qv_info *info)
{
	u32 i, b;

	info->num_devices = cell->num_devices;
	info->ecam = cell->num_devices ? qv_firmware.ecam_pa : 0;
	for (i = 0; i < cell->num_devices; i++) {
		const struct qv_pci_given *g = &cell->devices[i];
		struct qv_info_device *d = &info->devices[i];

		d->bdf = g->monitor.bdf;
		d->vendor = g->pdev->vendor;
		d->device = g->pdev->device;
		d->flags = (g->monitor.flags & QV_MON_DEVICE_MASTER ? QV_INFO_DEVICE_MASTER : 0) |
			   (g->state & QV_DEVICE_MESSAGES ? 0 : QV_INFO_DEVICE_NO_MESSAGES);
		d->vector = g->state & QV_DEVICE_PIN ? g->monitor.vector : 0;
		for (b = 0; b < QV_INFO_MAX_BARS; b++) {
			d->bars[b].base = g->monitor.bars[b].base;
			d->bars[b].size = pci_resource_len(g->pdev, b);
			d->bars[b].ports = g->monitor.bars[b].ports;
			d->bars[b].index = b;
		}
	}
}

void qv_pci_describe(const struct qv_cell *cell, struct qv_mon_create *m)
{
	u32 i;

	m->num_devices = cell->num_devices;
	for (i = 0; i < cell->num_devices; i++)
		m->devices[i] = cell->devices[i].monitor;
}

/* ---- taking and giving back ---- */

static void qv_pci_silence(struct pci_dev *pdev)
{
	pci_write_config_word(pdev, PCI_COMMAND, PCI_COMMAND_INTX_DISABLE);
}

void qv_pci_reset(struct qv_cell *cell)
{
	u32 i;

	for (i = 0; i < cell->num_devices; i++) {
		struct qv_pci_given *g = &cell->devices[i];

		g->state &= ~QV_DEVICE_NO_RESET;
		if (pci_reset_function(g->pdev)) {
			g->state |= QV_DEVICE_NO_RESET;
			qv_log("driver", "PCI function %s knows no reset: cell %s finds it as it was left",
			       pci_name(g->pdev), cell->name);
		}
		qv_pci_silence(g->pdev);
	}
}

static int qv_pci_take_one(struct qv_reply *r, struct qv_cell *cell, const struct qv_device *want)
{
	struct qv_pci_given *g = &cell->devices[cell->num_devices];
	struct pci_dev *pdev;
	int error;

	if (want->segment || want->bdf > 0xffff)
		return qv_refuse(r, QV_E_DEVICE, "choose one of segment 0", "PCI segment %u is not supported", want->segment);
	pdev = pci_get_domain_bus_and_slot(0, want->bdf >> 8, want->bdf & 0xff);
	if (!pdev)
		return qv_refuse(r, QV_E_DEVICE, "see 'qvctl devices' for what there is",
				 "there is no PCI function %02x:%02x.%u", want->bdf >> 8,
				 PCI_SLOT(want->bdf), PCI_FUNC(want->bdf));
	error = qv_pci_check_kind(r, pdev);
	if (!error)
		error = qv_pci_check_dma(r, pdev, want->dma);
	if (!error)
		error = qv_pci_check_bars(r, cell, pdev);
	if (error)
		goto put;

	*g = (struct qv_pci_given){ .pdev = pdev, .had_driver = !!pdev->driver };
	strscpy(g->driver, dev_driver_string(&pdev->dev), sizeof(g->driver));
	device_release_driver(&pdev->dev);
	error = qv_pci_bind(pdev) ? qv_pci_refuse(r, pdev, "see the kernel log (dmesg)", "does not let go of its Linux driver") : 0;
	if (error)
		goto back;
	if (pci_enable_device(pdev)) {
		error = qv_pci_refuse(r, pdev, "see the kernel log (dmesg)", "cannot be switched on");
		qv_pci_unbind(pdev);
		goto back;
	}
	pci_save_state(pdev);
	g->saved = pci_store_saved_state(pdev);
	qv_pci_silence(pdev);
	qv_pci_describe_one(g, cell->num_devices, want->dma);
	cell->num_devices++;
	if (want->dma == QV_DMA_UNSAFE)
		qv_log("driver", "unsafe-dma: PCI function %s, given to cell %s, can read and write all memory",
		       pci_name(pdev), cell->name);
	return 0;
back:
	if (g->had_driver && device_attach(&pdev->dev) < 0)
		qv_log("driver", "PCI function %s did not get its driver back", pci_name(pdev));
put:
	pci_dev_put(pdev);
	return error;
}

int qv_pci_take(struct qv_reply *r, struct qv_cell *cell)
{
	const struct qv_cell_create *q = cell->config;
	int error = 0;
	u32 i;

	for (i = 0; i < q->num_devices && !error; i++)
		error = qv_pci_take_one(r, cell, &q->devices[i]);
	if (!error)
		qv_pci_reset(cell);
	return error;
}

static void qv_pci_give_one(struct qv_pci_given *g)
{
	struct pci_dev *pdev = g->pdev;

	pci_reset_function(pdev);	/* if it has no reset, qv_pci_reset() has logged that */
	if (g->saved)
		pci_load_and_free_saved_state(pdev, &g->saved);
	pci_restore_state(pdev);
	pci_disable_device(pdev);
	qv_pci_unbind(pdev);
	if (g->had_driver && device_attach(&pdev->dev) != 1)
		qv_log("driver", "PCI function %s is back, but its driver %s did not take it",
		       pci_name(pdev), g->driver);
	pci_dev_put(pdev);
}

void qv_pci_give(struct qv_cell *cell)
{
	while (cell->num_devices)
		qv_pci_give_one(&cell->devices[--cell->num_devices]);
}
