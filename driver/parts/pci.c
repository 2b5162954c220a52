// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cell's PCI functions: taken from their Linux driver, reset, silenced and described to the
 * monitor; afterwards restored and given back (law 8). While a cell has a function, the PCI driver
 * of this module is bound to it (pci_bind.c). pci_check.c decides which functions a cell may have.
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
#include "parts/pci.h"

/* a device's pin has this vector plus the number of the device in the cell */
#define PIN_FIRST_VECTOR	0x40

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
		qv_log("driver",
		       "the interrupt line of PCI function %s is shared with another device: "
		       "it is not connected",
		       pci_name(g->pdev));
		return;
	}
	/* index of the IOAPIC in the order of the MADT */
	g->monitor.ioapic = (unsigned long)d->domain->host_data;
	g->monitor.pin = d->hwirq;
	g->monitor.vector = PIN_FIRST_VECTOR + number;
	if (irqd_get_trigger_type((struct irq_data *)d) == IRQ_TYPE_LEVEL_HIGH)
		g->monitor.flags |= QV_MON_DEVICE_HIGH;
	g->state |= QV_DEVICE_PIN;
}

/*
 * Checks that messages of the function arrive. They name a CPU by 8 bits. The monitor makes entries
 * of the IOMMU's table for them if it owns the IOMMU; entries of Linux's table are not for cells.
 */
static bool qv_pci_has_messages(const struct qv_cell *cell, const struct qv_pci_given *g)
{
	int first = qv_cpu_index(cell->cpus[0]);

	return (g->dma == QV_DMA_PROTECTED || (g->dma == QV_DMA_UNSAFE && !qv_pci_remapped())) &&
	       qv_front_status()->cpus[first].apic_id < 255;
}

static void qv_pci_describe_one(const struct qv_cell *cell, struct qv_pci_given *g, u32 number)
{
	int i;

	g->monitor.bdf = pci_dev_id(g->pdev);
	if (g->pdev->is_virtfn) {
		g->monitor.physical = pci_dev_id(pci_physfn(g->pdev));
		g->monitor.number = pci_iov_vf_id(g->pdev);
		g->state |= QV_DEVICE_VIRTUAL;
	}
	if (g->dma != QV_DMA_OFF)
		g->monitor.flags |= QV_MON_DEVICE_MASTER;
	if (qv_pci_has_messages(cell, g))
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

static void qv_pci_info(const struct qv_cell *cell, struct qv_info *info)
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
			   (g->state & QV_DEVICE_MESSAGES ? 0 : QV_INFO_DEVICE_NO_MESSAGES) |
			   (g->dma == QV_DMA_PROTECTED ? QV_INFO_DEVICE_PROTECTED : 0) |
			   (qv_pci_waits(g) ? QV_INFO_DEVICE_HEIR : 0);
		d->vector = g->state & QV_DEVICE_PIN ? g->monitor.vector : 0;
		for (b = 0; b < QV_INFO_MAX_BARS; b++) {
			d->bars[b].base = g->monitor.bars[b].base;
			d->bars[b].size = pci_resource_len(g->pdev, b);
			d->bars[b].ports = g->monitor.bars[b].ports;
			d->bars[b].index = b;
		}
	}
}

static void qv_pci_describe(const struct qv_cell *cell, struct qv_mon_create *m)
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

static int qv_pci_reset(struct qv_reply *r, struct qv_cell *cell)
{
	u32 i;

	for (i = 0; i < cell->num_devices; i++) {
		struct qv_pci_given *g = &cell->devices[i];

		if (qv_pci_waits(g))
			continue;
		g->state &= ~QV_DEVICE_NO_RESET;
		if (pci_reset_function(g->pdev)) {
			g->state |= QV_DEVICE_NO_RESET;
			qv_log("driver",
			       "PCI function %s knows no reset: cell %s finds it as it was left",
			       pci_name(g->pdev), cell->name);
		}
		qv_pci_silence(g->pdev);
	}
	return 0;
}

/* Finds the function that the cell's file names. It comes with a reference */
static int qv_pci_find(struct qv_reply *r, const struct qv_device *want, struct pci_dev **pdev)
{
	if (want->segment || want->bdf > 0xffff)
		return qv_refuse(r, QV_E_DEVICE, "choose one of segment 0",
				 "PCI segment %u is not supported", want->segment);
	*pdev = pci_get_domain_bus_and_slot(0, want->bdf >> 8, want->bdf & 0xff);
	if (!*pdev)
		return qv_refuse(r, QV_E_DEVICE, "see 'qvctl devices' for those there are",
				 "there is no PCI function %02x:%02x.%u", want->bdf >> 8,
				 PCI_SLOT(want->bdf), PCI_FUNC(want->bdf));
	return 0;
}

/* Moves @pdev from its Linux driver to the driver of this module, and switches it on */
static int qv_pci_move(struct qv_reply *r, struct pci_dev *pdev)
{
	device_release_driver(&pdev->dev);
	if (qv_pci_bind(pdev))
		return qv_pci_refuse(r, pdev, "see the kernel log (dmesg)",
				     "does not let go of its Linux driver");
	if (!pci_enable_device(pdev))
		return 0;
	qv_pci_unbind(pdev);
	return qv_pci_refuse(r, pdev, "see the kernel log (dmesg)", "cannot be switched on");
}

/* The cell waits for the function, which stays with the cell that has it */
static int qv_pci_wait_for(struct qv_reply *r, struct qv_cell *cell, struct pci_dev *pdev)
{
	struct qv_pci_given *g = &cell->devices[cell->num_devices];
	struct qv_cell *holder;
	const struct qv_pci_given *held = qv_pci_held(pci_dev_id(pdev), &holder);
	u32 dma;
	int error;

	if (!held || holder == cell)
		return qv_pci_refuse(r, pdev, "create the cell that `heir-of` names first",
				     "belongs to no other cell, so this cell cannot inherit it");
	dma = held->dma;
	error = qv_pci_check_function(r, cell, pdev, true) ?:
		qv_pci_choose_dma(r, cell, pdev, &dma);
	if (error)
		return error;
	*g = (struct qv_pci_given){ .pdev = pdev, .dma = dma, .monitor = held->monitor };
	g->monitor.flags |= QV_MON_DEVICE_HEIR;
	g->monitor.vector = PIN_FIRST_VECTOR + cell->num_devices;
	g->state = QV_DEVICE_HEIR | (held->state & (QV_DEVICE_PIN | QV_DEVICE_VIRTUAL)) |
		   (qv_pci_has_messages(cell, g) ? QV_DEVICE_MESSAGES : 0);
	cell->num_devices++;
	return 0;
}

static int qv_pci_take_one(struct qv_reply *r, struct qv_cell *cell, const struct qv_device *want)
{
	struct qv_pci_given *g = &cell->devices[cell->num_devices];
	struct pci_dev *pdev;
	u32 dma = want->dma;
	int error = qv_pci_find(r, want, &pdev);

	if (error)
		return error;
	if (dma == QV_DMA_HEIR) {
		error = qv_pci_wait_for(r, cell, pdev);
		if (error)
			goto put;
		return 0;
	}
	error = qv_pci_check_function(r, cell, pdev, false) ?:
		qv_pci_choose_dma(r, cell, pdev, &dma);
	if (error)
		goto put;
	*g = (struct qv_pci_given){ .pdev = pdev, .had_driver = !!pdev->driver, .dma = dma };
	strscpy(g->driver, dev_driver_string(&pdev->dev), sizeof(g->driver));
	error = qv_pci_move(r, pdev);
	if (error)
		goto back;
	pci_set_dev_assigned(pdev);	/* a driver of the physical function asks for that */
	pci_save_state(pdev);
	g->saved = pci_store_saved_state(pdev);
	qv_pci_silence(pdev);
	qv_pci_describe_one(cell, g, cell->num_devices);
	cell->num_devices++;
	qv_pci_log_unsafe(cell, g, "given to");
	return 0;
back:
	if (g->had_driver && device_attach(&pdev->dev) < 0)
		qv_log("driver", "PCI function %s did not get its driver back", pci_name(pdev));
put:
	pci_dev_put(pdev);
	return error;
}

static int qv_pci_check(struct qv_reply *r, const struct qv_cell_create *q)
{
	if (q->num_devices > QV_MAX_DEVICES)
		return qv_refuse(r, QV_E_TOO_MANY, "", "more than %u PCI functions",
				 QV_MAX_DEVICES);
	return 0;
}

static int qv_pci_take(struct qv_reply *r, struct qv_cell *cell)
{
	const struct qv_cell_create *q = cell->config;
	int error = 0;
	u32 i;

	for (i = 0; i < q->num_devices && !error; i++)
		error = qv_pci_take_one(r, cell, &q->devices[i]);
	return error ? error : qv_pci_reset(r, cell);
}

static void qv_pci_give_one(struct qv_pci_given *g)
{
	struct pci_dev *pdev = g->pdev;

	if (qv_pci_waits(g)) {
		pci_dev_put(pdev);
		return;
	}
	pci_reset_function(pdev);	/* if it has no reset, qv_pci_reset() has logged that */
	if (g->saved)
		pci_load_and_free_saved_state(pdev, &g->saved);
	pci_restore_state(pdev);
	pci_disable_device(pdev);
	pci_clear_dev_assigned(pdev);
	qv_pci_unbind(pdev);
	if (g->had_driver && device_attach(&pdev->dev) != 1)
		qv_log("driver", "PCI function %s is back, but its driver %s did not take it",
		       pci_name(pdev), g->driver);
	pci_dev_put(pdev);
}

static void qv_pci_give(struct qv_cell *cell)
{
	while (cell->num_devices)
		qv_pci_give_one(&cell->devices[--cell->num_devices]);
}

static void qv_pci_show(const struct qv_cell *cell, struct qv_cell_info *info)
{
	u32 i;

	info->num_devices = cell->config->num_devices;
	memcpy(info->devices, cell->config->devices, sizeof(info->devices));
	for (i = 0; i < cell->num_devices; i++) {
		info->devices[i].dma = cell->devices[i].dma;
		info->devices[i].state = cell->devices[i].state;
	}
}

void qv_pci_count_blocked(u32 bdf)
{
	struct qv_cell *cell;
	u32 i;

	list_for_each_entry(cell, &qv_cells, list)
		for (i = 0; i < cell->num_devices; i++)
			if (cell->devices[i].monitor.bdf == bdf &&
			    !qv_pci_waits(&cell->devices[i]) &&
			    cell->devices[i].state >> QV_DEVICE_BLOCKED_SHIFT < 0xffff)
				cell->devices[i].state += 1u << QV_DEVICE_BLOCKED_SHIFT;
}

const char *qv_pci_holder(u32 bdf)
{
	struct qv_cell *cell;

	return qv_pci_held(bdf, &cell) ? cell->name : NULL;
}

const struct qv_part qv_part_pci = {
	.check = qv_pci_check,
	.take = qv_pci_take,
	.info = qv_pci_info,
	.describe = qv_pci_describe,
	.show = qv_pci_show,
	.reset = qv_pci_reset,
	.give = qv_pci_give,
	.unload = qv_pci_unload,
};
