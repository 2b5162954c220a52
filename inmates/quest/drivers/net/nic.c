// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/apic.h>
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/pci.h>
#include <inmate/string.h>
#include <inmate/trap.h>
#include "../../arch/vectors.h"
#include "../../kernel/deferred.h"
#include "../../kernel/thread.h"
#include "../../kernel/wait.h"
#include "../../mm/mm.h"
#include "../../mm/pages.h"
#include "apart.h"
#include "e1000e.h"
#include "igb.h"
#include "igbvf.h"
#include "nic.h"

#define BARS		6
#define CLASS		8	/* in config space */
#define DEVICE_PAGE	(PTE_WRITE | PTE_NO_EXECUTE | PTE_UNCACHED)

/* The first one of which there is a function is used. */
static const struct nic_driver *const drivers[] = {
	&e1000e_driver, &igb_driver, &igbvf_driver,
};
static struct qv_info_device function;
static const struct nic_driver *driver;	/* of the function */
static struct nic device;		/* of that driver, or of a program (apart.h) */
static uint64_t memory;			/* for DMA */
static bool messages;			/* the function interrupts */
static bool busy, unmask;		/* the program works; interrupts are unmasked after it */
static volatile uint64_t interrupts;

static void mask(bool masked)
{
	unmask = busy && !masked;
	if (messages && !unmask)
		driver->mask(&device, masked);
}

void nic_set_busy(bool now)
{
	busy = now;
	if (unmask && !busy)
		mask(false);
}

static struct deferred nic = { .source.hold = GATE_LEVEL, .mask = mask };

/* A program that drives the function may have unmasked it, so it is masked again. */
static void interrupt(struct trap_frame *frame)
{
	(void)frame;
	if (nic.source.held)
		mask(true);
	deferred_raise(&nic);
	interrupts++;
}

static bool find_for(const struct nic_driver *row)
{
	const struct qv_info_device *d;

	if (!cell_present())
		return pci_search(row->vendor, row->device, &function);
	d = pci_find(row->vendor, row->device);
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

/* Alone, the length of the BAR that has the table of MSI-X is not known. */
static bool has_table(void)
{
	return driver->msix && cell_present();
}

/* Maps config space, the registers, and the BARs that may have the table of MSI-X. */
static bool map(void)
{
	uint64_t config = cell_info()->ecam + ((uint64_t)function.bdf << 12);
	const struct qv_info_bar *bar;
	unsigned int i;

	if (cell_present() && !map_identity(config, config + PAGE_SIZE, DEVICE_PAGE))
		return false;
	for (i = 0; i < (has_table() ? BARS : 1); i++) {
		bar = pci_bar(&function, i);
		if (bar && !bar->ports &&
		    !map_identity(bar->base, bar->base + (i ? bar->size : driver->registers),
				  DEVICE_PAGE))
			return false;
	}
	return true;
}

/* Returns the address of cleared pages, which a program may see; 0: there are not so many. */
static uint64_t take(size_t bytes)
{
	size_t n = (bytes + PAGE_SIZE - 1) / PAGE_SIZE;
	uint64_t pages = pages_alloc(n);

	if (pages)
		memset((void *)(uintptr_t)pages, 0, n * PAGE_SIZE);
	return pages;
}

/* Takes the memory for DMA, and for a program that of its frames. */
static bool take_memory(bool apart)
{
	uint64_t area = apart ? take(apart_driver.memory) : 0;

	memory = take(driver->memory);
	device.driver = apart ? &apart_driver : driver;
	device.memory = (volatile void *)(uintptr_t)(apart ? area : memory);
	/* DMA of a function of a cell reaches the cell's RAM at the cell's addresses */
	device.bus = memory;
	device.lost = busy = apart;
	return memory && device.memory;
}

const char *nic_find(bool apart)
{
	const struct qv_info_bar *bar;

	driver = find();
	if (!driver)
		return "this machine has no function 8086:10d3 (82574L), 10c9 or 10ca (82576)";
	bar = pci_bar(&function, 0);
	if (!bar || bar->ports || bar->size < driver->registers)
		return "the function has no registers in memory";
	if (!(function.flags & QV_INFO_DEVICE_MASTER))
		return "the function may not do DMA (dma: off)";
	if (cell_present() && !(function.flags & QV_INFO_DEVICE_PROTECTED))
		return "its DMA would use addresses of the machine: enable --iommu, dma: protected";
	if (!take_memory(apart) || !map())
		return "no memory for its rings";
	device.registers = (volatile uint32_t *)(uintptr_t)bar->base;
	device.pause_us = thread_sleep_us;
	return NULL;
}

/* Its config space is ones until then. (The ids of a virtual function always are.) */
bool nic_waits(void)
{
	return function.flags & QV_INFO_DEVICE_HEIR && pci_read(function.bdf, CLASS, 4) == ~0u;
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
	uint8_t vector = nic.source.vector;

	device.msix = has_table() && pci_msix(&function, NIC_MSIX, vector, apic_id());
	return device.msix || (driver->msi && pci_msi(&function, vector, apic_id()));
}

static void set_messages(bool polled)
{
	messages = !polled && !(function.flags & QV_INFO_DEVICE_NO_MESSAGES) && set_message();
}

const char *nic_start(bool polled)
{
	const char *wrong;

	/* The rings of an inherited function are those of another cell, at addresses in this RAM */
	if (function.flags & QV_INFO_DEVICE_HEIR) {
		(void)pci_enable(&function, false, false);
		if (!driver->reset(&device))
			return "it does not end its reset";
	}
	if (!pci_enable(&function, false, true))
		return "the monitor refuses its DMA";
	wrong = driver->start(&device);
	if (wrong)
		return wrong;
	set_messages(polled);
	return NULL;
}

void nic_withdraw(void)
{
	messages = false;
	driver->mask(&device, true);
	(void)pci_enable(&function, false, false);
}

const char *nic_hand_over(bool polled)
{
	nic_withdraw();
	if (!driver->reset(&device))
		return "it does not end its reset";
	if (!pci_enable(&function, false, true))
		return "the monitor refuses its DMA";
	set_messages(polled);
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

void nic_acknowledge(void)
{
	driver->acknowledge(&device);
}

struct nic *nic_device(void)
{
	return &device;
}

bool nic_listens(void)
{
	return driver->listen;
}

bool nic_is_apart(void)
{
	return device.driver == &apart_driver;
}

struct nic_parts nic_parts(void)
{
	return (struct nic_parts){
		.registers = (uintptr_t)device.registers, .registers_size = driver->registers,
		.memory = memory, .memory_size = driver->memory,
		.area = (struct apart_area *)(uintptr_t)device.memory,
		.vendor = driver->vendor, .device = driver->device,
	};
}

void nic_wake(struct wait_queue *q)
{
	wake_for(q, nic.served, nic.vcpu, rdtsc());
}
