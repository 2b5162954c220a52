// SPDX-License-Identifier: GPL-2.0-only
#include "e1000e.h"

/* Registers besides those of rings: Intel 82574 datasheet, chapter 10 */
#define CTRL		0x0000
#define CTRL_ASDE	(1u << 5)	/* detects the speed */
#define CTRL_SLU	(1u << 6)	/* sets the link up */
#define CTRL_RST	(1u << 26)
#define STATUS		0x0008
#define STATUS_LU	(1u << 1)
#define ICR		0x00C0
#define ITR		0x00C4
#define IMS		0x00D0
#define IMC		0x00D8
#define CAUSE_LINK	(1u << 2)
#define CAUSE_RX_FEW	(1u << 4)	/* few free descriptors are left */
#define CAUSE_RX_LOST	(1u << 6)
#define CAUSE_RX	(1u << 7)
#define RCTL		0x0100
#define RCTL_EN		(1u << 1)
#define RCTL_BROADCAST	(1u << 15)
#define RCTL_STRIP	(1u << 26)	/* leaves out the checksum */
#define TCTL		0x0400
#define TCTL_EN		(1u << 1)
#define TCTL_PAD	(1u << 3)
#define TCTL_RETRIES	(15u << 4)
#define TCTL_DISTANCE	(64u << 12)
#define TIPG		0x0410
#define TIPG_USUAL	0x00602008
#define RDTR		0x2820
#define RXDCTL		0x2828
#define TXDCTL		0x3828
#define DCTL_DESCRIPTORS	(1u << 24)	/* thresholds count descriptors */
#define TXDCTL_ONE	(1u << 22)		/* must be set */
#define RXCSUM		0x5000
#define RFCTL		0x5008		/* 0: legacy descriptors */
#define MTA		0x5200
#define MTA_WORDS	128
#define RAL		0x5400
#define RAH		0x5404
#define RAH_VALID	(1u << 31)
#define MRQC		0x5818		/* 0: one queue */

/* Bits of descriptors */
#define RX_DONE		(1u << 0)
#define RX_END		(1u << 1)	/* the last part of a frame */
#define TX_END		(1u << 0)
#define TX_CHECKSUM	(1u << 1)	/* the function appends Ethernet's checksum */
#define TX_REPORT	(1u << 3)
#define TX_DONE		(1u << 0)

#define CAUSES		(CAUSE_LINK | CAUSE_RX_FEW | CAUSE_RX_LOST | CAUSE_RX)
#define RESET_ROUNDS	100
#define RESET_US	1000

static volatile struct e1000e_memory *memory(const struct nic *n)
{
	return n->memory;
}

static void acknowledge(struct nic *n)
{
	nic_set(n, ICR, nic_get(n, ICR));
}

static bool reset(struct nic *n)
{
	unsigned int i;

	nic_set(n, IMC, ~0u);
	nic_set(n, RCTL, 0);
	nic_set(n, TCTL, 0);
	nic_set(n, CTRL, nic_get(n, CTRL) | CTRL_RST);
	for (i = 0; i < RESET_ROUNDS; i++) {
		n->pause_us(RESET_US);
		if (!(nic_get(n, CTRL) & CTRL_RST))
			break;
	}
	nic_set(n, IMC, ~0u);
	acknowledge(n);
	return i < RESET_ROUNDS;
}

/* The reset has loaded the address from the function's own memory. */
static bool read_address(struct nic *n)
{
	uint32_t low = nic_get(n, RAL), high = nic_get(n, RAH);
	unsigned int i;

	for (i = 0; i < 4; i++)
		n->address[i] = (uint8_t)(low >> 8 * i);
	n->address[4] = (uint8_t)high;
	n->address[5] = (uint8_t)(high >> 8);
	return high & RAH_VALID && !(n->address[0] & 1) && (low || high & 0xFFFF);
}

static void give(struct nic *n, uint32_t i)
{
	volatile struct e1000e_rx *d = &memory(n)->rx[i];

	d->status = 0;
	d->address = nic_rx_bus(n, i);
}

static void start_rx(struct nic *n)
{
	uint32_t i;

	nic_give_all(n);
	for (i = 0; i < MTA_WORDS; i++)
		nic_set(n, MTA + 4 * i, 0);
	nic_set(n, RXCSUM, 0);
	nic_set(n, RFCTL, 0);
	nic_set(n, MRQC, 0);
	nic_set(n, RDTR, 0);
	nic_set(n, RXDCTL, DCTL_DESCRIPTORS);
	nic_place_ring(n, RING_RX);
	nic_set(n, RCTL, RCTL_EN | RCTL_BROADCAST | RCTL_STRIP);
}

static void start_tx(struct nic *n)
{
	nic_set(n, TIPG, TIPG_USUAL);
	nic_set(n, TXDCTL, DCTL_DESCRIPTORS | TXDCTL_ONE);
	nic_place_ring(n, RING_TX);
	nic_set(n, TCTL, TCTL_EN | TCTL_PAD | TCTL_RETRIES | TCTL_DISTANCE);
}

static const char *start(struct nic *n)
{
	if (!reset(n))
		return "it does not end its reset";
	if (!read_address(n))
		return "it has no Ethernet address of its own";
	nic_set(n, ITR, 0);
	nic_set(n, CTRL, nic_get(n, CTRL) | CTRL_SLU | CTRL_ASDE);
	start_rx(n);
	start_tx(n);
	nic_begin(n);
	return NULL;
}

static bool take(struct nic *n, uint32_t i, struct nic_received *r)
{
	volatile struct e1000e_rx *d = &memory(n)->rx[i];
	uint8_t status = d->status;

	if (!(status & RX_DONE))
		return false;
	nic_ordered();
	r->length = d->length;
	r->end = status & RX_END;
	r->bad = d->errors;
	return true;
}

static void fill(struct nic *n, uint32_t i, size_t length)
{
	volatile struct e1000e_tx *d = &memory(n)->tx[i];

	d->address = nic_tx_bus(n, i);
	d->length = (uint16_t)length;
	d->checksum_offset = d->checksum_start = 0;
	d->special = 0;
	d->status = 0;
	d->command = TX_END | TX_CHECKSUM | TX_REPORT;
}

static bool is_sent(const struct nic *n, uint32_t i)
{
	return memory(n)->tx[i].status & TX_DONE;
}

static void listen(struct nic *n, unsigned int entry, const uint8_t address[NIC_ADDRESS])
{
	nic_set(n, RAL + 8 * entry, (uint32_t)address[0] | (uint32_t)address[1] << 8 |
				    (uint32_t)address[2] << 16 | (uint32_t)address[3] << 24);
	nic_set(n, RAH + 8 * entry, (uint32_t)address[4] | (uint32_t)address[5] << 8 | RAH_VALID);
}

static void mask(struct nic *n, bool masked)
{
	nic_set(n, masked ? IMC : IMS, masked ? ~0u : CAUSES);
}

static bool link(struct nic *n)
{
	return nic_get(n, STATUS) & STATUS_LU;
}

static const struct nic_rings rings = {
	.give = give, .take = take, .fill = fill, .is_sent = is_sent,
};

const struct nic_driver e1000e_driver = {
	.vendor = 0x8086, .device = 0x10D3, .registers = E1000E_REGISTERS,
	.memory = sizeof(struct e1000e_memory),
	.rings = &rings, .reset = reset, .start = start,
	.receive = nic_receive, .release = nic_release, .room = nic_room, .send = nic_send,
	.listen = listen, .acknowledge = acknowledge, .mask = mask, .link = link,
};
