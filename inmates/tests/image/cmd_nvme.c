// SPDX-License-Identifier: GPL-2.0-only
/*
 * A driver of an NVMe disk with one queue for data, whose completions arrive as messages of MSI-X.
 * Each command starts the controller again. NVM Express base specification 1.4.
 */
#include <inmate/apic.h>
#include <inmate/cell.h>
#include <inmate/console.h>
#include <inmate/string.h>
#include <inmate/trap.h>
#include "../../quest/kernel/thread.h"
#include "../../quest/shell/shell.h"
#include "../../quest/shell/words.h"
#include "cmd_pci.h"

#define NVME_VENDOR	0x1B36		/* the disk of QEMU */
#define NVME_DEVICE	0x0010
#define CAP_HIGH	0x04		/* registers, and their bits */
#define CAP_STRIDE(cap)	(4u << ((cap) & 15))
#define CC		0x14
#define CC_ENABLE	1u
#define CC_SIZES	(6u << 16 | 4u << 20)	/* requests of 64, completions of 16 bytes */
#define CSTS		0x1C
#define CSTS_READY	1u
#define AQA		0x24
#define ASQ		0x28
#define ACQ		0x30
#define DOORBELLS	0x1000

#define CREATE_SQ	0x01		/* requests to the controller */
#define CREATE_CQ	0x05
#define IDENTIFY	0x06
#define IDENTIFY_CONTROLLER	1
#define WRITE		0x01		/* requests to the disk */
#define READ		0x02
#define CONTIGUOUS	1u
#define INTERRUPTS	2u

#define VECTOR		0x51
#define ENTRIES		8
#define BLOCK		4096
#define SECTORS		(BLOCK / 512)
#define SERIAL		4		/* offset and length in what IDENTIFY returns */
#define SERIAL_LEN	20
#define ROUNDS		1000
#define PAUSE_US	1000

/* A queue pair: 0 for the controller, 1 for data */
static struct pair {
	volatile uint32_t requests[ENTRIES][16] __attribute__((aligned(4096)));
	volatile uint32_t completions[ENTRIES][4] __attribute__((aligned(4096)));
	unsigned int next;
} pairs[2];
static volatile uint32_t data[BLOCK / 4] __attribute__((aligned(4096)));
static volatile uint32_t *nvme;
static volatile uint32_t interrupts;

static void interrupt(struct trap_frame *frame)
{
	(void)frame;
	interrupts++;
}

static void set64(unsigned int reg, const volatile void *at)
{
	nvme[reg / 4] = (uint32_t)(uintptr_t)at;
	nvme[reg / 4 + 1] = (uint32_t)((uintptr_t)at >> 32);
}

/* Switches the controller on or off, and waits until it says so. */
static bool enable(bool on)
{
	unsigned int i;

	nvme[CC / 4] = on ? CC_SIZES | CC_ENABLE : 0;
	for (i = 0; i < ROUNDS && (nvme[CSTS / 4] & CSTS_READY) != on; i++)
		thread_sleep_us(PAUSE_US);
	return i < ROUNDS;
}

/*
 * Sends a request whose data are at `at`, and waits for its completion. Returns its status: 0 means
 * success, ~0 that none came.
 */
static uint32_t request(unsigned int n, const uint32_t *words, uint64_t at)
{
	struct pair *pair = &pairs[n];
	volatile uint32_t *r = pair->requests[pair->next], *done = pair->completions[pair->next];
	unsigned int stride = CAP_STRIDE(nvme[CAP_HIGH / 4]), i;

	for (i = 0; i < 16; i++)
		r[i] = 0;
	r[0] = words[0] | pair->next << 16;
	r[1] = n || words[0] == IDENTIFY ? n : 0;		/* the first name space */
	r[6] = (uint32_t)at;
	r[7] = (uint32_t)(at >> 32);
	for (i = 0; i < 3; i++)
		r[10 + i] = words[1 + i];
	pair->next++;
	nvme[(DOORBELLS + 2 * n * stride) / 4] = pair->next;
	for (i = 0; i < ROUNDS && !(done[3] >> 16 & 1); i++)
		thread_sleep_us(PAUSE_US);
	nvme[(DOORBELLS + (2 * n + 1) * stride) / 4] = pair->next;
	return i < ROUNDS ? done[3] >> 17 : ~0u;
}

static bool start(const struct qv_info_device *d)
{
	const uint32_t size = (ENTRIES - 1) << 16 | 1;
	const uint32_t cq[] = { CREATE_CQ, size, 1 << 16 | INTERRUPTS | CONTIGUOUS, 0 };
	const uint32_t sq[] = { CREATE_SQ, size, 1 << 16 | CONTIGUOUS, 0 };

	trap_set_irq(VECTOR, interrupt);
	memset((void *)pairs, 0, sizeof(pairs));
	if (!pci_enable(d, false, true) || !enable(false))
		return false;
	nvme[AQA / 4] = (ENTRIES - 1) << 16 | (ENTRIES - 1);
	set64(ASQ, pairs[0].requests);
	set64(ACQ, pairs[0].completions);
	return enable(true) && pci_msix(d, 1, VECTOR, apic_id()) &&
	       !request(0, cq, (uintptr_t)pairs[1].completions) &&
	       !request(0, sq, (uintptr_t)pairs[1].requests);
}

static uint32_t crc32(const volatile uint32_t *words, unsigned int n)
{
	uint32_t crc = ~0u;
	unsigned int i, bit;

	for (i = 0; i < n; i++) {
		crc ^= words[i];
		for (bit = 0; bit < 32; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
	}
	return ~crc;
}

static void identify(void)
{
	const uint32_t words[] = { IDENTIFY, IDENTIFY_CONTROLLER, 0, 0 };
	uint32_t status = request(0, words, (uintptr_t)data);
	char serial[SERIAL_LEN + 1] = "";

	if (status) {
		print("status %x\n", status);
		return;
	}
	memcpy(serial, (const char *)data + SERIAL, SERIAL_LEN);
	print("serial %s\n", serial);
}

static void transfer(uint32_t op, uint64_t block, uint64_t at)
{
	const uint32_t words[] = { op, (uint32_t)block * SECTORS, 0, SECTORS - 1 };
	uint32_t before = interrupts, status = request(1, words, at);

	if (status)
		print("status %x\n", status);
	else
		print("crc32 %08x, interrupts=%u\n", crc32(data, BLOCK / 4), interrupts - before);
}

/* Returns false for wrong usage. */
static bool command(int argc, char **argv)
{
	bool write = !strcmp(argv[1], "write");
	uint64_t block = 0, value = 0;
	unsigned int i;

	if (argc == 2 && !strcmp(argv[1], "id")) {
		identify();
		return true;
	}
	if ((!write && strcmp(argv[1], "read")) || argc < 3 + write || argc > 4 ||
	    !words_value(argv[2], 1 << 20, &block) ||
	    (argc == 4 && !words_value(argv[3], 1ull << 46, &value)))
		return false;
	for (i = 0; i < BLOCK / 4; i++)
		data[i] = write ? (uint32_t)value : 0;
	transfer(write ? WRITE : READ, block, write || argc == 3 ? (uintptr_t)data : value);
	return true;
}

int command_nvme(int argc, char **argv);

int command_nvme(int argc, char **argv)
{
	const struct qv_info_device *d = cell_present() ? pci_find(NVME_VENDOR, NVME_DEVICE) : NULL;

	if (!d || !pci_bar(d, 0) || !map_function(d)) {
		print("this cell has no such device\n");
		return SHELL_FAILED;
	}
	if (argc == 1)
		return SHELL_SHOW_USAGE;
	nvme = (volatile uint32_t *)(uintptr_t)pci_bar(d, 0)->base;
	if (!start(d)) {
		print("the disk does not start, status %x\n", nvme[CSTS / 4]);
		return SHELL_FAILED;
	}
	return command(argc, argv) ? 0 : SHELL_SHOW_USAGE;
}
