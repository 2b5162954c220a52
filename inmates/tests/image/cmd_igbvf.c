// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends a frame by a virtual function of Intel's 82576, and receives one. The driver of the
 * physical function tells the Ethernet address by a mailbox, and lets the queues run. Each command
 * resets the function. Registers: Intel 82576EB datasheet 2.61, chapters 7.8 and 8.14.
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

#define VENDOR		0x8086
#define DEVICE		0x10CA
#define VTCTRL		0x0000
#define VTCTRL_RST	(1u << 26)
#define MEMORY		0x0800		/* the mailbox's words */
#define MAILBOX		0x0C40
#define MAILBOX_REQUEST	(1u << 0)	/* there is a message for the physical function */
#define MAILBOX_ACK	(1u << 1)
#define MAILBOX_OURS	(1u << 2)	/* the virtual function may write the words */
#define MAILBOX_REPLY	(1u << 4)	/* there is a message for the virtual function */
#define MESSAGE_RESET	1u
#define MESSAGE_DONE	0x80000001u	/* the answer to a reset that was carried out */
#define VTEIMS		0x1524
#define VTEIAC		0x152C		/* causes that a message clears */
#define VTIVAR		0x1700		/* entries for the causes of queue 0: received, sent */
#define RX		0x2800		/* queue 0 */
#define TX		0x3800
#define BASE_LOW	0x00		/* registers of a queue */
#define BASE_HIGH	0x04
#define LENGTH		0x08
#define SPLIT		0x0C		/* received frames only: the kind of descriptors */
#define SPLIT_ONE	(1u << 25 | 2u)	/* advanced, one buffer of 2 KiB */
#define HEAD		0x10		/* a reset of the function leaves it in QEMU */
#define TAIL		0x18
#define CONTROL		0x28
#define CONTROL_ENABLE	(1u << 25)

#define TX_DATA		(3u << 20 | 1u << 29)	/* an advanced descriptor of data */
#define TX_END		(1u << 24)
#define TX_CHECKSUM	(1u << 25)
#define TX_REPORT	(1u << 27)
#define DONE		1u

#define VECTOR		0x53
#define ENTRY		1u
#define DESCRIPTORS	8
#define BUFFER		2048
#define FRAMES		64		/* at most so many come before the frame to the address */
#define FRAME		256
#define HEADER		14
#define TYPE		0x88B5		/* for experiments: IEEE 802 */
#define ROUNDS		5000
#define PAUSE_US	1000

static volatile uint32_t sends[DESCRIPTORS][4] __attribute__((aligned(4096)));
static volatile uint32_t receives[DESCRIPTORS][4] __attribute__((aligned(4096)));
static uint8_t frame[FRAME] __attribute__((aligned(4096)));
static uint8_t buffers[DESCRIPTORS][BUFFER] __attribute__((aligned(4096)));
static volatile uint32_t *vf;
static volatile uint32_t interrupts;

static void interrupt(struct trap_frame *trap)
{
	(void)trap;
	interrupts++;
}

/* Waits until one of the bits of the word is set. */
static bool until(const volatile uint32_t *word, uint32_t bits)
{
	unsigned int i;

	for (i = 0; i < ROUNDS && !(*word & bits); i++)
		thread_sleep_us(PAUSE_US);
	return i < ROUNDS;
}

/* Asks the physical function's driver to let the queues run. Copies the address it answers. */
static bool greet(uint8_t address[6])
{
	uint32_t words[3];
	unsigned int i;

	vf[MAILBOX / 4] = MAILBOX_OURS;
	if (!(vf[MAILBOX / 4] & MAILBOX_OURS))
		return false;
	vf[MEMORY / 4] = MESSAGE_RESET;
	vf[MAILBOX / 4] = MAILBOX_REQUEST;
	if (!until(&vf[MAILBOX / 4], MAILBOX_REPLY))
		return false;
	for (i = 0; i < 3; i++)
		words[i] = vf[MEMORY / 4 + i];
	vf[MAILBOX / 4] = MAILBOX_ACK;
	memcpy(address, &words[1], 6);
	return words[0] == MESSAGE_DONE;
}

static void queue(unsigned int at, const volatile void *ring)
{
	vf[(at + CONTROL) / 4] = 0;
	vf[(at + BASE_LOW) / 4] = (uint32_t)(uintptr_t)ring;
	vf[(at + BASE_HIGH) / 4] = (uint32_t)((uintptr_t)ring >> 32);
	vf[(at + LENGTH) / 4] = sizeof(sends);
	vf[(at + HEAD) / 4] = 0;
	vf[(at + TAIL) / 4] = 0;
	vf[(at + CONTROL) / 4] = CONTROL_ENABLE;
}

/* Gives the buffer of the descriptor to the function. */
static void offer(unsigned int i)
{
	receives[i][0] = (uint32_t)(uintptr_t)buffers[i];
	receives[i][1] = (uint32_t)((uintptr_t)buffers[i] >> 32);
	receives[i][2] = 0;
	receives[i][3] = 0;
}

/* Waits for a frame to the address, and drops frames to others. Returns FRAMES if none comes. */
static unsigned int receive(const uint8_t address[6])
{
	unsigned int n, i;

	for (n = 0; n < FRAMES; n++) {
		i = n % DESCRIPTORS;
		if (!until(&receives[i][2], DONE))
			return FRAMES;
		if (!memcmp(buffers[i], address, 6))
			return i;
		offer(i);
		vf[(RX + TAIL) / 4] = i;
	}
	return FRAMES;
}

static bool start(const struct qv_info_device *d, uint8_t address[6])
{
	unsigned int i;

	trap_set_irq(VECTOR, interrupt);
	if (!pci_enable(d, false, true))
		return false;
	vf[VTCTRL / 4] = VTCTRL_RST;
	thread_sleep_us(PAUSE_US);
	if (!greet(address) || !pci_msix(d, ENTRY, VECTOR, apic_id()))
		return false;
	memset((void *)sends, 0, sizeof(sends));
	memset((void *)receives, 0, sizeof(receives));
	for (i = 0; i < DESCRIPTORS; i++)
		offer(i);
	vf[VTIVAR / 4] = (0x80u | ENTRY) | (0x80u | ENTRY) << 8;
	vf[VTEIAC / 4] = 1u << ENTRY;
	vf[VTEIMS / 4] = 1u << ENTRY;
	vf[(RX + SPLIT) / 4] = SPLIT_ONE;
	queue(RX, receives);
	queue(TX, sends);
	vf[(RX + TAIL) / 4] = DESCRIPTORS - 1;
	return true;
}

static void exchange(const uint8_t address[6], uint32_t word)
{
	unsigned int i, at;
	uint32_t got;

	memset(frame, 0xFF, 6);
	memcpy(frame + 6, address, 6);
	frame[12] = TYPE >> 8;
	frame[13] = TYPE & 0xFF;
	for (i = HEADER; i + 4 <= FRAME; i += 4)
		memcpy(frame + i, &word, 4);
	sends[0][0] = (uint32_t)(uintptr_t)frame;
	sends[0][1] = (uint32_t)((uintptr_t)frame >> 32);
	sends[0][2] = TX_DATA | TX_END | TX_CHECKSUM | TX_REPORT | FRAME;
	sends[0][3] = FRAME << 14;
	vf[(TX + TAIL) / 4] = 1;
	if (!until(&sends[0][3], DONE)) {
		print("the frame stays\n");
		return;
	}
	at = receive(address);
	if (at == FRAMES) {
		print("sent, but no frame comes\n");
	} else if (!until(&interrupts, ~0u)) {
		print("no message comes\n");
	} else {
		memcpy(&got, buffers[at] + HEADER, 4);
		print("sent, %u bytes received: %08x\n", receives[at][3] & 0xFFFF, got);
	}
}

int command_igbvf(int argc, char **argv);

int command_igbvf(int argc, char **argv)
{
	const struct qv_info_device *d = cell_present() ? pci_find(VENDOR, DEVICE) : NULL;
	uint8_t a[6];
	uint64_t word;

	if (argc != 2 || !words_value(argv[1], ~0u, &word))
		return SHELL_SHOW_USAGE;
	if (!d || !pci_bar(d, 0) || !map_function(d)) {
		print("this cell has no such device\n");
		return SHELL_FAILED;
	}
	vf = (volatile uint32_t *)(uintptr_t)pci_bar(d, 0)->base;
	interrupts = 0;
	if (!start(d, a)) {
		print("the function does not start, mailbox %x\n", vf[MAILBOX / 4]);
		return SHELL_FAILED;
	}
	print("address %02x%02x%02x%02x%02x%02x\n", a[0], a[1], a[2], a[3], a[4], a[5]);
	exchange(a, (uint32_t)word);
	return 0;
}
