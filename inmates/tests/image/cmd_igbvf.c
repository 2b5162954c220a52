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
#include "../../quest/drivers/net/advanced.h"
#include "../../quest/drivers/net/igbvfregs.h"
#include "../../quest/kernel/thread.h"
#include "../../quest/shell/shell.h"
#include "../../quest/shell/words.h"
#include "cmd_pci.h"

#define VENDOR		0x8086
#define DEVICE		0x10CA
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

	vf[VF_MAILBOX / 4] = VF_MAILBOX_OURS;
	if (!(vf[VF_MAILBOX / 4] & VF_MAILBOX_OURS))
		return false;
	vf[VF_WORDS / 4] = VF_MESSAGE_RESET;
	vf[VF_MAILBOX / 4] = VF_MAILBOX_REQUEST;
	if (!until(&vf[VF_MAILBOX / 4], VF_MAILBOX_REPLY))
		return false;
	for (i = 0; i < 3; i++)
		words[i] = vf[VF_WORDS / 4 + i];
	vf[VF_MAILBOX / 4] = VF_MAILBOX_ACK;
	memcpy(address, &words[1], 6);
	return words[0] == VF_MESSAGE_DONE;
}

static void queue(unsigned int at, const volatile void *ring)
{
	vf[(at + ADVANCED_CONTROL) / 4] = 0;
	vf[(at + RING_LOW) / 4] = (uint32_t)(uintptr_t)ring;
	vf[(at + RING_HIGH) / 4] = (uint32_t)((uintptr_t)ring >> 32);
	vf[(at + RING_LENGTH) / 4] = sizeof(sends);
	vf[(at + RING_HEAD) / 4] = 0;
	vf[(at + RING_TAIL) / 4] = 0;
	vf[(at + ADVANCED_CONTROL) / 4] = ADVANCED_ENABLE;
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
		if (!until(&receives[i][2], ADVANCED_DONE))
			return FRAMES;
		if (!memcmp(buffers[i], address, 6))
			return i;
		offer(i);
		vf[(RING_RX + RING_TAIL) / 4] = i;
	}
	return FRAMES;
}

static bool start(const struct qv_info_device *d, uint8_t address[6])
{
	unsigned int i;

	trap_set_irq(VECTOR, interrupt);
	if (!pci_enable(d, false, true))
		return false;
	vf[VF_CTRL / 4] = VF_CTRL_RST;
	thread_sleep_us(PAUSE_US);
	if (!greet(address) || !pci_msix(d, ENTRY, VECTOR, apic_id()))
		return false;
	memset((void *)sends, 0, sizeof(sends));
	memset((void *)receives, 0, sizeof(receives));
	for (i = 0; i < DESCRIPTORS; i++)
		offer(i);
	vf[VF_IVAR / 4] = (VF_IVAR_VALID | ENTRY) | (VF_IVAR_VALID | ENTRY) << 8;
	vf[VF_EIAC / 4] = 1u << ENTRY;
	vf[VF_EIMS / 4] = 1u << ENTRY;
	vf[(RING_RX + ADVANCED_SPLIT) / 4] = ADVANCED_SPLIT_ONE;
	queue(RING_RX, receives);
	queue(RING_TX, sends);
	vf[(RING_RX + RING_TAIL) / 4] = DESCRIPTORS - 1;
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
	sends[0][2] = ADVANCED_TX_FRAME | FRAME;
	sends[0][3] = FRAME << ADVANCED_TX_LENGTH;
	vf[(RING_TX + RING_TAIL) / 4] = 1;
	if (!until(&sends[0][3], ADVANCED_DONE)) {
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
		print("the function does not start, mailbox %x\n", vf[VF_MAILBOX / 4]);
		return SHELL_FAILED;
	}
	print("address %02x%02x%02x%02x%02x%02x\n", a[0], a[1], a[2], a[3], a[4], a[5]);
	exchange(a, (uint32_t)word);
	return 0;
}
