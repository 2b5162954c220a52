// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends frames by one queue of Intel's 82576, whose messages of MSI-X say that they were sent. Each
 * command resets the function. Registers: Intel 82576EB datasheet 2.61, chapter 8.
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

#define IGB_VENDOR	0x8086
#define IGB_DEVICE	0x10C9
#define CTRL		0x0000
#define CTRL_SLU	(1u << 6)	/* sets the link up */
#define CTRL_RST	(1u << 26)
#define STATUS		0x0008
#define STATUS_LU	(1u << 1)
#define MDIC		0x0020		/* access to the PHY's registers */
#define MDIC_NEGOTIATE	(1u << 26 | 1u << 21 | 0x1340)	/* writes its register 0 */
#define MDIC_READY	(1u << 28)
#define TCTL		0x0400
#define TCTL_EN		(1u << 1)
#define TCTL_PAD	(1u << 3)
#define GPIE		0x1514
#define GPIE_MSIX	(1u << 4)
#define GPIE_READY	(1u << 31)	/* the table of MSI-X is used */
#define EIMS		0x1524
#define EIAC		0x152C		/* causes that a message clears */
#define IVAR		0x1700
#define IVAR_TX0(entry)	((0x80u | (entry)) << 8)
#define RAL		0x5400
#define TDBAL		0xE000
#define TDBAH		0xE004
#define TDLEN		0xE008
#define TDH		0xE010
#define TDT		0xE018
#define TXDCTL		0xE028
#define TXDCTL_ENABLE	(1u << 25)

#define TX_DATA		(3u << 20 | 1u << 29)	/* an advanced descriptor of data */
#define TX_END		(1u << 24)
#define TX_CHECKSUM	(1u << 25)
#define TX_REPORT	(1u << 27)
#define TX_DONE		1u

#define VECTOR		0x52
#define ENTRY		1
#define DESCRIPTORS	8
#define FRAME		256
#define HEADER		14
#define TYPE		0x88B5		/* for experiments: IEEE 802 */
#define ROUNDS		2000
#define PAUSE_US	1000

static volatile uint32_t ring[DESCRIPTORS][4] __attribute__((aligned(4096)));
static uint8_t frame[FRAME] __attribute__((aligned(4096)));
static volatile uint32_t *igb;
static volatile uint32_t interrupts;

static void interrupt(struct trap_frame *trap)
{
	(void)trap;
	interrupts++;
}

/* Waits until the bits of the word are as wanted. */
static bool until(const volatile uint32_t *word, uint32_t bits, bool set)
{
	unsigned int i;

	for (i = 0; i < ROUNDS && !!(*word & bits) != set; i++)
		thread_sleep_us(PAUSE_US);
	return i < ROUNDS;
}

static bool start(const struct qv_info_device *d)
{
	trap_set_irq(VECTOR, interrupt);
	if (!pci_enable(d, false, true))
		return false;
	igb[CTRL / 4] |= CTRL_RST;
	if (!until(&igb[CTRL / 4], CTRL_RST, false) || !pci_msix(d, ENTRY, VECTOR, apic_id()))
		return false;
	igb[CTRL / 4] |= CTRL_SLU;
	igb[MDIC / 4] = MDIC_NEGOTIATE;
	memset((void *)ring, 0, sizeof(ring));
	igb[GPIE / 4] = GPIE_MSIX | GPIE_READY;
	igb[IVAR / 4] = IVAR_TX0(ENTRY);
	igb[EIAC / 4] = 1u << ENTRY;
	igb[EIMS / 4] = 1u << ENTRY;
	igb[TDBAL / 4] = (uint32_t)(uintptr_t)ring;
	igb[TDBAH / 4] = (uint32_t)((uintptr_t)ring >> 32);
	igb[TDLEN / 4] = sizeof(ring);
	igb[TDH / 4] = 0;
	igb[TDT / 4] = 0;
	igb[TXDCTL / 4] = TXDCTL_ENABLE;
	igb[TCTL / 4] = TCTL_EN | TCTL_PAD;
	return until(&igb[MDIC / 4], MDIC_READY, true) &&
	       until(&igb[STATUS / 4], STATUS_LU, true);
}

static void send(uint32_t word)
{
	uint32_t low = igb[RAL / 4], high = igb[RAL / 4 + 1];
	unsigned int i;

	memset(frame, 0xFF, 6);
	memcpy(frame + 6, &low, 4);
	memcpy(frame + 10, &high, 2);
	frame[12] = TYPE >> 8;
	frame[13] = TYPE & 0xFF;
	for (i = HEADER; i + 4 <= FRAME; i += 4)
		memcpy(frame + i, &word, 4);
	ring[0][0] = (uint32_t)(uintptr_t)frame;
	ring[0][1] = (uint32_t)((uintptr_t)frame >> 32);
	ring[0][2] = TX_DATA | TX_END | TX_CHECKSUM | TX_REPORT | FRAME;
	ring[0][3] = FRAME << 14;
	igb[TDT / 4] = 1;
	if (!until(&ring[0][3], TX_DONE, true))
		print("the frame stays\n");
	else if (!until(&interrupts, ~0u, true))
		print("no message comes\n");
	else
		print("sent, interrupts=%u\n", interrupts);
}

int command_igb(int argc, char **argv);

int command_igb(int argc, char **argv)
{
	const struct qv_info_device *d = cell_present() ? pci_find(IGB_VENDOR, IGB_DEVICE) : NULL;
	uint64_t word;

	if (!d || !pci_bar(d, 0) || !map_function(d)) {
		print("this cell has no such device\n");
		return SHELL_FAILED;
	}
	igb = (volatile uint32_t *)(uintptr_t)pci_bar(d, 0)->base;
	interrupts = 0;
	if (!start(d)) {
		print("the function does not start, status %x\n", igb[STATUS / 4]);
		return SHELL_FAILED;
	}
	if (argc == 2 && !strcmp(argv[1], "link"))
		print("address %08x%04x, link up\n", __builtin_bswap32(igb[RAL / 4]),
		      __builtin_bswap16((uint16_t)igb[RAL / 4 + 1]));
	else if (argc == 3 && !strcmp(argv[1], "send") && words_value(argv[2], ~0u, &word))
		send((uint32_t)word);
	else
		return SHELL_SHOW_USAGE;
	return 0;
}
