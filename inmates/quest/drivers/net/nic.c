// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/apic.h>
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/pci.h>
#include <inmate/trap.h>
#include "../../arch/vectors.h"
#include "../../kernel/deferred.h"
#include "../../kernel/thread.h"
#include "../../mm/mm.h"
#include "../../mm/pages.h"
#include "e1000e.h"
#include "igbvf.h"
#include "nic.h"

#define BARS		6
#define DEVICE_PAGE	(PTE_WRITE | PTE_NO_EXECUTE | PTE_UNCACHED)

/* The first one of which there is a function is used. */
static const struct nic_driver *const drivers[] = { &e1000e_driver, &igbvf_driver };
static struct qv_info_device function;
static struct nic device;
static bool messages;			/* the function interrupts */
static volatile uint64_t interrupts;

static void mask(bool masked)
{
	if (messages)
		device.driver->mask(&device, masked);
}

static struct deferred nic = { .source.hold = GATE_LEVEL, .mask = mask };

static void interrupt(struct trap_frame *frame)
{
	(void)frame;
	deferred_raise(&nic);
	interrupts++;
}

static bool find_for(const struct nic_driver *driver)
{
	const struct qv_info_device *d;

	if (!cell_present())
		return pci_search(driver->vendor, driver->device, &function);
	d = pci_find(driver->vendor, driver->device);
	if (d)
		function = *d;
	return d;
}

static const struct nic_driver *find(void)
{
	size_t i;

	for (i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (find_for(drivers[i]))
			return drivers[i];
	return NULL;
}

/* Maps config space, the registers, and the BARs that may have the table of MSI-X. */
static bool map(void)
{
	uint64_t config = cell_info()->ecam + ((uint64_t)function.bdf << 12);
	const struct qv_info_bar *bar;
	unsigned int i;

	if (cell_present() && !map_identity(config, config + PAGE_SIZE, DEVICE_PAGE))
		return false;
	for (i = 0; i < (device.driver->msix ? BARS : 1); i++) {
		bar = pci_bar(&function, i);
		if (bar && !bar->ports &&
		    !map_identity(bar->base, bar->base + (i ? bar->size : device.driver->registers),
				  DEVICE_PAGE))
			return false;
	}
	return true;
}

const char *nic_find(void)
{
	const struct qv_info_bar *bar;
	uint64_t memory;

	device.driver = find();
	if (!device.driver)
		return "this machine has no function 8086:10d3 (82574L) or 8086:10ca (82576)";
	bar = pci_bar(&function, 0);
	if (!bar || bar->ports || bar->size < device.driver->registers)
		return "the function has no registers in memory";
	if (!(function.flags & QV_INFO_DEVICE_MASTER))
		return "the function may not do DMA (dma: off)";
	if (cell_present() && !(function.flags & QV_INFO_DEVICE_PROTECTED))
		return "its DMA would use addresses of the machine: enable --iommu, dma: protected";
	memory = pages_alloc((device.driver->memory + PAGE_SIZE - 1) / PAGE_SIZE);
	if (!memory || !map())
		return "no memory for its rings";
	device.registers = (volatile uint32_t *)(uintptr_t)bar->base;
	device.memory = (volatile void *)(uintptr_t)memory;
	/* DMA of a function of a cell reaches the cell's RAM at the cell's addresses */
	device.bus = memory;
	device.pause_us = thread_sleep_us;
	return NULL;
}

/* Returns a vector that no part of the info page names. */
static uint8_t free_vector(void)
{
	const struct qv_info *info = cell_info();
	uint8_t vector = VECTOR_NIC;
	unsigned int n;

	for (n = 0; n < QV_INFO_MAX_CHANNELS + QV_INFO_MAX_DEVICES + 1; n++) {
		if (vector == info->doorbell_vector ||
		    (n < QV_INFO_MAX_CHANNELS && vector == info->bells[n].vector) ||
		    (n < QV_INFO_MAX_DEVICES && vector == info->devices[n].vector)) {
			vector++;
			n = (unsigned int)-1;	/* look at all again */
		}
	}
	return vector;
}

bool nic_serve(void (*work)(void), int vcpu, const struct wait_queue *served)
{
	nic.source.vector = free_vector();
	nic.handler = work;
	nic.served = served;
	trap_set_irq(nic.source.vector, interrupt);
	return deferred_start_on(&nic, "net", vcpu);
}

void nic_poke(void)
{
	bool irqs = irq_save();

	deferred_raise(&nic);
	irq_restore(irqs);
}

static bool set_message(void)
{
	if (device.driver->msix)
		return pci_msix(&function, NIC_MSIX, nic.source.vector, apic_id());
	return pci_msi(&function, nic.source.vector, apic_id());
}

const char *nic_start(bool polled)
{
	const char *wrong;

	if (!pci_enable(&function, false, true))
		return "the monitor refuses its DMA";
	wrong = device.driver->start(&device);
	if (wrong)
		return wrong;
	messages = !polled && !(function.flags & QV_INFO_DEVICE_NO_MESSAGES) && set_message();
	return NULL;
}

bool nic_polled(void)
{
	return !messages;
}

uint64_t nic_interrupts(void)
{
	return interrupts;
}

struct nic *nic_device(void)
{
	return &device;
}
