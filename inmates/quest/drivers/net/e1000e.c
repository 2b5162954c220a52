// SPDX-License-Identifier: GPL-2.0-only
#include "e1000e.h"

/* Registers: Intel 82574 datasheet, chapter 10 */
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
#define RDBAL		0x2800
#define RDBAH		0x2804
#define RDLEN		0x2808
#define RDH		0x2810
#define RDT		0x2818
#define RDTR		0x2820
#define RXDCTL		0x2828
#define TDBAL		0x3800
#define TDBAH		0x3804
#define TDLEN		0x3808
#define TDH		0x3810
#define TDT		0x3818
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

static uint32_t get(const struct nic *n, unsigned int reg)
{
	return n->registers[reg / 4];
}

static void set(struct nic *n, unsigned int reg, uint32_t value)
{
	n->registers[reg / 4] = value;
}

static volatile struct e1000e_memory *memory(const struct nic *n)
{
	return n->memory;
}

/*
 * The processor neither reorders its own stores nor lets a later load pass an earlier one. So only
 * the compiler has to be kept from it.
 */
static void ordered(void)
{
	__asm__ volatile("" : : : "memory");
}

static void acknowledge(struct nic *n)
{
	set(n, ICR, get(n, ICR));
}

static bool reset(struct nic *n)
{
	unsigned int i;

	set(n, IMC, ~0u);
	set(n, RCTL, 0);
	set(n, TCTL, 0);
	set(n, CTRL, get(n, CTRL) | CTRL_RST);
	for (i = 0; i < RESET_ROUNDS; i++) {
		n->pause_us(RESET_US);
		if (!(get(n, CTRL) & CTRL_RST))
			break;
	}
	set(n, IMC, ~0u);
	acknowledge(n);
	return i < RESET_ROUNDS;
}

/* The reset has loaded the address from the function's own memory. */
static bool read_address(struct nic *n)
{
	uint32_t low = get(n, RAL), high = get(n, RAH);
	unsigned int i;

	for (i = 0; i < 4; i++)
		n->address[i] = (uint8_t)(low >> 8 * i);
	n->address[4] = (uint8_t)high;
	n->address[5] = (uint8_t)(high >> 8);
	return high & RAH_VALID && !(n->address[0] & 1) && (low || high & 0xFFFF);
}

static uint64_t bus_of(const struct nic *n, size_t offset)
{
	return n->bus + offset;
}

/* Gives descriptor `i` to the function. Writes its address again, which could have changed. */
static void give(struct nic *n, uint32_t i)
{
	volatile struct e1000e_rx *d = &memory(n)->rx[i];

	d->status = 0;
	d->address = bus_of(n, offsetof(struct e1000e_memory, rx_buffer) + i * NIC_BUFFER);
}

static void set_ring(struct nic *n, unsigned int base, uint64_t at, uint32_t bytes)
{
	set(n, base, (uint32_t)at);
	set(n, base + (RDBAH - RDBAL), (uint32_t)(at >> 32));
	set(n, base + (RDLEN - RDBAL), bytes);
	set(n, base + (RDH - RDBAL), 0);
	set(n, base + (RDT - RDBAL), 0);
}

static void start_rx(struct nic *n)
{
	uint32_t i;

	for (i = 0; i < NIC_RX; i++)
		give(n, i);
	for (i = 0; i < MTA_WORDS; i++)
		set(n, MTA + 4 * i, 0);
	set(n, RXCSUM, 0);
	set(n, RFCTL, 0);
	set(n, MRQC, 0);
	set(n, RDTR, 0);
	set(n, RXDCTL, DCTL_DESCRIPTORS);
	set_ring(n, RDBAL, bus_of(n, offsetof(struct e1000e_memory, rx)), sizeof(memory(n)->rx));
	set(n, RCTL, RCTL_EN | RCTL_BROADCAST | RCTL_STRIP);
	ordered();
	/* one is left out: head and tail that are equal mean that the function has no descriptor */
	set(n, RDT, NIC_RX - 1);
	n->rx_next = 0;
	n->in_parts = false;
}

static void start_tx(struct nic *n)
{
	set(n, TIPG, TIPG_USUAL);
	set(n, TXDCTL, DCTL_DESCRIPTORS | TXDCTL_ONE);
	set_ring(n, TDBAL, bus_of(n, offsetof(struct e1000e_memory, tx)), sizeof(memory(n)->tx));
	set(n, TCTL, TCTL_EN | TCTL_PAD | TCTL_RETRIES | TCTL_DISTANCE);
	n->tx_next = n->tx_oldest = 0;
}

static const char *start(struct nic *n)
{
	if (!reset(n))
		return "it does not end its reset";
	if (!read_address(n))
		return "it has no Ethernet address of its own";
	set(n, ITR, 0);
	set(n, CTRL, get(n, CTRL) | CTRL_SLU | CTRL_ASDE);
	start_rx(n);
	start_tx(n);
	return NULL;
}

static void release(struct nic *n)
{
	give(n, n->rx_next);
	ordered();
	set(n, RDT, n->rx_next);
	n->rx_next = (n->rx_next + 1) % NIC_RX;
}

static size_t receive(struct nic *n, const volatile uint8_t **frame)
{
	volatile struct e1000e_rx *d;
	unsigned int i;
	uint8_t status;
	uint16_t length;
	bool whole;

	for (i = 0; i < NIC_RX; i++) {
		d = &memory(n)->rx[n->rx_next];
		status = d->status;
		if (!(status & RX_DONE))
			return 0;
		ordered();
		length = d->length;
		whole = status & RX_END && !n->in_parts;
		n->in_parts = !(status & RX_END);
		if (whole && !d->errors && length >= NIC_FRAME_MIN && length <= NIC_FRAME_MAX) {
			n->counts.rx++;
			n->counts.rx_bytes += length;
			*frame = memory(n)->rx_buffer[n->rx_next];
			return length;
		}
		n->counts.rx_bad++;
		release(n);
	}
	return 0;
}

/* Counts the descriptors that the function has done as free, in their order. */
static void reclaim(struct nic *n)
{
	while (n->tx_oldest != n->tx_next && memory(n)->tx[n->tx_oldest].status & TX_DONE)
		n->tx_oldest = (n->tx_oldest + 1) % NIC_TX;
}

static volatile uint8_t *room(struct nic *n)
{
	reclaim(n);
	if ((n->tx_next + 1) % NIC_TX != n->tx_oldest)
		return memory(n)->tx_buffer[n->tx_next];
	n->counts.tx_full++;
	return NULL;
}

static void send(struct nic *n, size_t length)
{
	volatile struct e1000e_tx *d = &memory(n)->tx[n->tx_next];

	d->address = bus_of(n, offsetof(struct e1000e_memory, tx_buffer) +
			       n->tx_next * NIC_BUFFER);
	d->length = (uint16_t)length;
	d->checksum_offset = d->checksum_start = 0;
	d->special = 0;
	d->status = 0;
	d->command = TX_END | TX_CHECKSUM | TX_REPORT;
	n->tx_next = (n->tx_next + 1) % NIC_TX;
	ordered();
	set(n, TDT, n->tx_next);
	n->counts.tx++;
	n->counts.tx_bytes += length;
}

static void listen(struct nic *n, unsigned int entry, const uint8_t address[NIC_ADDRESS])
{
	set(n, RAL + 8 * entry, (uint32_t)address[0] | (uint32_t)address[1] << 8 |
				(uint32_t)address[2] << 16 | (uint32_t)address[3] << 24);
	set(n, RAH + 8 * entry, (uint32_t)address[4] | (uint32_t)address[5] << 8 | RAH_VALID);
}

static void mask(struct nic *n, bool masked)
{
	set(n, masked ? IMC : IMS, masked ? ~0u : CAUSES);
}

static bool link(struct nic *n)
{
	return get(n, STATUS) & STATUS_LU;
}

const struct nic_driver e1000e_driver = {
	.vendor = 0x8086, .device = 0x10D3, .registers = E1000E_REGISTERS,
	.memory = sizeof(struct e1000e_memory),
	.start = start, .receive = receive, .release = release, .room = room, .send = send,
	.listen = listen, .acknowledge = acknowledge, .mask = mask, .link = link,
};
