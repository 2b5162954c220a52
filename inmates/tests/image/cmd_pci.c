// SPDX-License-Identifier: GPL-2.0-only
/* Commands for a cell's PCI functions, and a driver of QEMU's teaching device (docs/specs/edu). */
#include <inmate/apic.h>
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/pci.h>
#include <inmate/string.h>
#include <inmate/trap.h>
#include "../../quest/kernel/thread.h"
#include "../../quest/mm/mm.h"
#include "../../quest/shell/shell.h"
#include "../../quest/shell/words.h"
#include "cmd_pci.h"

#define DEVICE_PAGE	(PTE_WRITE | PTE_NO_EXECUTE | PTE_UNCACHED)
#define MESSAGE_VECTOR	0x50
#define PATIENCE_US	1000
#define ROUNDS		1000

#define EDU_VENDOR	0x1234
#define EDU_DEVICE	0x11E8
#define EDU_ID		0x00
#define EDU_LIVE	0x04
#define EDU_FACTORIAL	0x08
#define EDU_STATUS	0x20
#define EDU_BUSY	1
#define EDU_RAISED	0x24
#define EDU_RAISE	0x60
#define EDU_CLEAR	0x64
#define EDU_SOURCE	0x80		/* 64 bits each */
#define EDU_TARGET	0x88
#define EDU_COUNT	0x90
#define EDU_COMMAND	0x98
#define EDU_START	1
#define EDU_TO_RAM	2
#define EDU_BUFFER	0x40000
#define EDU_LEN		16

static bool map_config(uint32_t bdf)
{
	uint64_t at = cell_info()->ecam + ((uint64_t)bdf << 12);

	return map_identity(at, at + 4096, DEVICE_PAGE);
}

bool map_function(const struct qv_info_device *d)
{
	bool fine = map_config(d->bdf);
	unsigned int i;

	for (i = 0; i < QV_INFO_MAX_BARS; i++)
		if (d->bars[i].size && !d->bars[i].ports)
			fine = fine && map_identity(d->bars[i].base,
						    d->bars[i].base + d->bars[i].size, DEVICE_PAGE);
	return fine;
}

/* pcitest get|set|portget|portset BDF REGISTER SIZE [VALUE] */
static bool access(int argc, char **argv)
{
	bool set = !strcmp(argv[1], "set") || !strcmp(argv[1], "portset");
	bool port = argv[1][0] == 'p';
	uint64_t bdf, reg, size, value = 0;

	if (argc != (set ? 6 : 5) || !words_value(argv[2], 0xFFFF, &bdf) ||
	    !words_value(argv[3], 4095, &reg) || !words_value(argv[4], 4, &size) ||
	    (set && !words_value(argv[5], ~0u, &value)))
		return false;
	if (!port && !map_config(bdf)) {
		print("no memory for a page table\n");
		return true;
	}
	if (set && port)
		pci_port_write(bdf, reg, size, value);
	else if (set)
		pci_write(bdf, reg, size, value);
	print("%x\n", port ? pci_port_read(bdf, reg, size) : pci_read(bdf, reg, size));
	return true;
}

/*
 * Returns true if the `n` bytes are in a memory BAR of the cell's functions. Only these may be
 * mapped as a device.
 */
static bool in_bar(uint64_t at, uint64_t n)
{
	const struct qv_info_device *d;
	const struct qv_info_bar *bar;
	unsigned int i;

	for (i = 0; (d = pci_nth(i)); i++)
		for (bar = d->bars; bar < d->bars + QV_INFO_MAX_BARS; bar++)
			if (!bar->ports && bar->size >= n && at >= bar->base &&
			    at - bar->base <= bar->size - n)
				return true;
	return false;
}

/* pcitest load|store ADDRESS [VALUE]: a register in a BAR */
static bool memory(int argc, char **argv)
{
	uint64_t at, value;

	if (argc < 3 || !words_value(argv[2], 1ull << 46, &at))
		return false;
	if (!in_bar(at, 4)) {
		print("%s: not in a memory BAR of this cell's functions; pci lists them\n",
		      argv[2]);
		return true;
	}
	if (!map_identity(at, at + 4, DEVICE_PAGE))
		return false;
	if (!strcmp(argv[1], "store")) {
		if (argc != 4 || !words_value(argv[3], ~0u, &value))
			return false;
		*(volatile uint32_t *)at = value;
	}
	print("%x\n", *(volatile uint32_t *)at);
	return true;
}

/* pcitest in PORT; pcitest out PORT VALUE: a byte */
static bool ports(int argc, char **argv)
{
	bool out = !strcmp(argv[1], "out");
	uint64_t port, value;

	if (argc != (out ? 4 : 3) || !words_value(argv[2], 0xFFFF, &port) ||
	    (out && !words_value(argv[3], 255, &value)))
		return false;
	if (out)
		outb(port, value);
	print("%x\n", inb(port));
	return true;
}

static volatile uint32_t messages;

static void message(struct trap_frame *frame)
{
	(void)frame;
	messages++;
}

/* pcitest msix N ENTRY: write an entry and enable */
static bool msix(int argc, char **argv)
{
	const struct qv_info_device *d;
	uint64_t n, entry;

	if (argc != 4 || !words_value(argv[2], 7, &n) || !words_value(argv[3], 2047, &entry) ||
	    !(d = pci_nth(n)) || !map_function(d))
		return false;
	trap_set_irq(MESSAGE_VECTOR, message);
	print("%s\n", pci_enable(d, false, true) && pci_msix(d, entry, MESSAGE_VECTOR, apic_id()) ?
	      "on" : "refused");
	return true;
}

int command_pcitest(int argc, char **argv);
int command_edu(int argc, char **argv);

/* Calls the function that the second word names. Returns false for wrong usage. */
static bool pcitest(int argc, char **argv)
{
	if (argc == 1)
		return false;
	if (!strcmp(argv[1], "load") || !strcmp(argv[1], "store"))
		return memory(argc, argv);
	if (!strcmp(argv[1], "in") || !strcmp(argv[1], "out"))
		return ports(argc, argv);
	if (!strcmp(argv[1], "msix"))
		return msix(argc, argv);
	if (!strcmp(argv[1], "messages")) {
		print("%u\n", messages);
		return true;
	}
	return access(argc, argv);
}

int command_pcitest(int argc, char **argv)
{
	if (!cell_present()) {
		print("not in a cell\n");
		return SHELL_FAILED;
	}
	return pcitest(argc, argv) ? 0 : SHELL_SHOW_USAGE;
}

/* ---- the teaching device ---- */

static volatile uint32_t *edu;
static volatile uint32_t interrupts;

static void interrupt(struct trap_frame *frame)
{
	(void)frame;
	/* acknowledge the device before EOI, since the pin is level-triggered */
	edu[EDU_CLEAR / 4] = edu[EDU_RAISED / 4];
	interrupts++;
}

static void factorial(uint32_t n)
{
	unsigned int i;

	edu[EDU_FACTORIAL / 4] = n;
	for (i = 0; i < ROUNDS && (edu[EDU_STATUS / 4] & EDU_BUSY); i++)
		thread_sleep_us(PATIENCE_US);
	print("%u\n", edu[EDU_FACTORIAL / 4]);
}

/* Raises an interrupt and waits for it. */
static void raise(const struct qv_info_device *d, bool pin, uint32_t vector)
{
	uint32_t before = interrupts;
	unsigned int i;

	trap_set_irq(vector, interrupt);
	if (!pci_enable(d, pin, !pin) || (!pin && !pci_msi(d, vector, apic_id()))) {
		print("the monitor refused it\n");
		return;
	}
	edu[EDU_RAISE / 4] = 1;
	for (i = 0; i < ROUNDS && interrupts == before; i++)
		thread_sleep_us(PATIENCE_US);
	print("interrupts=%u\n", interrupts - before);
}

/* DMA between the device's buffer and an address */
static void move(uint64_t at, bool to_ram)
{
	uint64_t words[] = { to_ram ? EDU_BUFFER : at, to_ram ? at : EDU_BUFFER, EDU_LEN };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		edu[EDU_SOURCE / 4 + 2 * i] = words[i];
		edu[EDU_SOURCE / 4 + 2 * i + 1] = words[i] >> 32;
	}
	edu[EDU_COMMAND / 4] = EDU_START | (to_ram ? EDU_TO_RAM : 0);
	for (i = 0; i < ROUNDS && (edu[EDU_COMMAND / 4] & EDU_START); i++)
		thread_sleep_us(PATIENCE_US);
}

static char page[EDU_LEN] __attribute__((aligned(4096)));

/* The device reads `what` by DMA, then 16 bytes at `at`, and writes what it has to the image. */
static void held(uint64_t at, const char *what)
{
	memcpy(page, what, EDU_LEN);
	move((uintptr_t)page, false);
	memset(page, 0, EDU_LEN);
	if (at)
		move(at, false);
	move((uintptr_t)page, true);
}

static bool dma(const struct qv_info_device *d, int argc, char **argv)
{
	uint64_t at = 0;
	unsigned int i;

	if (argc != (strcmp(argv[1], "own") ? 3 : 2) ||
	    (argc == 3 && !words_value(argv[2], ~0u, &at)))
		return false;
	if (!pci_enable(d, d->vector, true)) {
		print("the monitor refused it\n");
		return true;
	}
	held(strcmp(argv[1], "read") ? 0 : at, argc == 2 ? "OWN MEMORY WORKS" : "NOTHING!NOTHING!");
	if (!strcmp(argv[1], "write"))
		move(at, true);
	for (i = 0; i < EDU_LEN; i++)
		print("%02x", (unsigned char)page[i]);
	print("\n");
	return true;
}

int command_edu(int argc, char **argv)
{
	const struct qv_info_device *d = cell_present() ? pci_find(EDU_VENDOR, EDU_DEVICE) : NULL;
	uint64_t n;

	if (!d || !pci_bar(d, 0) || !map_function(d)) {
		print("this cell has no such device\n");
		return SHELL_FAILED;
	}
	edu = (volatile uint32_t *)(uintptr_t)pci_bar(d, 0)->base;
	pci_enable(d, true, false);
	if (argc == 2 && !strcmp(argv[1], "id")) {
		edu[EDU_LIVE / 4] = 0x12345678;
		print("id %08x, live %08x\n", edu[EDU_ID / 4], edu[EDU_LIVE / 4]);
	} else if (argc == 3 && !strcmp(argv[1], "fact") && words_value(argv[2], 12, &n)) {
		factorial(n);
	} else if (argc == 2 && !strcmp(argv[1], "irq") && d->vector) {
		raise(d, true, d->vector);
	} else if (argc == 2 && !strcmp(argv[1], "irq")) {
		print("its pin is not connected\n");
	} else if (argc == 2 && !strcmp(argv[1], "count")) {
		print("%u\n", interrupts);
	} else if (argc == 2 && !strcmp(argv[1], "msi")) {
		raise(d, false, MESSAGE_VECTOR);
	} else if (argc > 1 && (!strcmp(argv[1], "own") || !strcmp(argv[1], "read") ||
				!strcmp(argv[1], "write"))) {
		return dma(d, argc, argv) ? 0 : SHELL_SHOW_USAGE;
	} else {
		return SHELL_SHOW_USAGE;
	}
	return 0;
}
