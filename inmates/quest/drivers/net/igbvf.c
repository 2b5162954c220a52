// SPDX-License-Identifier: GPL-2.0-only
#include "igbvf.h"

/* Registers: Intel 82576EB datasheet 2.61, 8.14; the mailbox: 7.8 */
#define CTRL		0x0000
#define CTRL_RST	(1u << 26)
#define STATUS		0x0008
#define STATUS_LU	(1u << 1)
#define WORDS		0x0800		/* of the mailbox */
#define MAILBOX		0x0C40
#define MAILBOX_REQUEST	(1u << 0)	/* there is a message for the physical function */
#define MAILBOX_ACK	(1u << 1)
#define MAILBOX_OURS	(1u << 2)	/* the virtual function may write the words */
#define MAILBOX_REPLY	(1u << 4)	/* there is a message for the virtual function */
#define MAILBOX_RESETS	(1u << 6)	/* the physical function resets itself */
#define MAILBOX_RESET	(1u << 7)	/* it has done so; a read clears the bit */
#define MESSAGE_CLEAR	(1u << 29)	/* the queues may run */
#define MESSAGE_RESET	1u
#define MESSAGE_DONE	0x80000001u	/* the answer to a reset that was carried out */
#define EICS		0x1520
#define EIMS		0x1524
#define EIMC		0x1528
#define EIAC		0x152C		/* causes that a message clears */
#define EICR		0x1580
#define IVAR		0x1700		/* entries for the causes of queue 0: received, sent */
#define IVAR_VALID	0x80u
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

/* Bits of descriptors */
#define DONE		(1u << 0)
#define RX_END		(1u << 1)	/* the last part of a frame */
#define RX_ERROR	(1u << 31)
#define TX_DATA		(3u << 20 | 1u << 29)
#define TX_END		(1u << 24)
#define TX_CHECKSUM	(1u << 25)
#define TX_REPORT	(1u << 27)
#define TX_LENGTH	14		/* shift of the length in `status` */

#define ENTRY		(1u << NIC_MSIX)
#define ROUNDS		5000
#define PAUSE_US	1000

static uint32_t get(const struct nic *n, unsigned int reg)
{
	return n->registers[reg / 4];
}

static void set(struct nic *n, unsigned int reg, uint32_t value)
{
	n->registers[reg / 4] = value;
}

static volatile struct igbvf_memory *memory(const struct nic *n)
{
	return n->memory;
}

/* As in e1000e.c: only the compiler has to be kept from reordering. */
static void ordered(void)
{
	__asm__ volatile("" : : : "memory");
}

/* Asks the driver of the physical function to let the queues run. It answers with the address. */
static const char *greet(struct nic *n)
{
	uint32_t words[3];
	unsigned int i;

	set(n, MAILBOX, MAILBOX_OURS);
	if (!(get(n, MAILBOX) & MAILBOX_OURS))
		return "the mailbox to the physical function is busy";
	set(n, WORDS, MESSAGE_RESET);
	set(n, MAILBOX, MAILBOX_REQUEST);
	for (i = 0; i < ROUNDS && !(get(n, MAILBOX) & MAILBOX_REPLY); i++)
		n->pause_us(PAUSE_US);
	if (i == ROUNDS)
		return "the driver of the physical function does not answer";
	for (i = 0; i < 3; i++)
		words[i] = get(n, WORDS + 4 * i);
	set(n, MAILBOX, MAILBOX_ACK);
	for (i = 0; i < NIC_ADDRESS; i++)
		n->address[i] = (uint8_t)(words[1 + i / 4] >> i % 4 * 8);
	if (words[0] != MESSAGE_DONE || n->address[0] & 1 || !(words[1] | (words[2] & 0xFFFF)))
		return "the driver of the physical function gives it no address";
	return NULL;
}

static void queue(struct nic *n, unsigned int at, size_t offset, uint32_t bytes)
{
	uint64_t bus = n->bus + offset;

	set(n, at + CONTROL, 0);
	set(n, at + BASE_LOW, (uint32_t)bus);
	set(n, at + BASE_HIGH, (uint32_t)(bus >> 32));
	set(n, at + LENGTH, bytes);
	set(n, at + HEAD, 0);
	set(n, at + TAIL, 0);
	set(n, at + CONTROL, CONTROL_ENABLE);
}

/* Gives descriptor `i` to the function. Writes its address again, which could have changed. */
static void give(struct nic *n, uint32_t i)
{
	volatile struct igbvf_rx *d = &memory(n)->rx[i];

	d->status = 0;
	d->length = d->vlan = 0;
	d->address = n->bus + offsetof(struct igbvf_memory, rx_buffer) + i * NIC_BUFFER;
}

static const char *start(struct nic *n)
{
	const char *wrong;
	uint32_t i;

	set(n, EIMC, ~0u);
	set(n, CTRL, CTRL_RST);
	n->pause_us(PAUSE_US);
	wrong = greet(n);
	if (wrong)
		return wrong;
	for (i = 0; i < NIC_RX; i++)
		give(n, i);
	set(n, IVAR, (IVAR_VALID | NIC_MSIX) | (IVAR_VALID | NIC_MSIX) << 8);
	set(n, EIAC, ENTRY);
	set(n, RX + SPLIT, SPLIT_ONE);
	queue(n, RX, offsetof(struct igbvf_memory, rx), sizeof(memory(n)->rx));
	queue(n, TX, offsetof(struct igbvf_memory, tx), sizeof(memory(n)->tx));
	ordered();
	/* one is left out: head and tail that are equal mean that the function has no descriptor */
	set(n, RX + TAIL, NIC_RX - 1);
	n->rx_next = n->tx_next = n->tx_oldest = 0;
	n->in_parts = false;
	return NULL;
}

static void release(struct nic *n)
{
	give(n, n->rx_next);
	ordered();
	set(n, RX + TAIL, n->rx_next);
	n->rx_next = (n->rx_next + 1) % NIC_RX;
}

static size_t receive(struct nic *n, const volatile uint8_t **frame)
{
	volatile struct igbvf_rx *d;
	unsigned int i;
	uint32_t status;
	uint16_t length;
	bool whole;

	for (i = 0; i < NIC_RX; i++) {
		d = &memory(n)->rx[n->rx_next];
		status = d->status;
		if (!(status & DONE))
			return 0;
		ordered();
		length = d->length;
		whole = status & RX_END && !n->in_parts;
		n->in_parts = !(status & RX_END);
		if (whole && !(status & RX_ERROR) && length >= NIC_FRAME_MIN &&
		    length <= NIC_FRAME_MAX) {
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
	while (n->tx_oldest != n->tx_next && memory(n)->tx[n->tx_oldest].status & DONE)
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
	volatile struct igbvf_tx *d = &memory(n)->tx[n->tx_next];

	d->address = n->bus + offsetof(struct igbvf_memory, tx_buffer) + n->tx_next * NIC_BUFFER;
	d->status = (uint32_t)length << TX_LENGTH;
	d->command = TX_DATA | TX_END | TX_CHECKSUM | TX_REPORT | (uint32_t)length;
	n->tx_next = (n->tx_next + 1) % NIC_TX;
	ordered();
	set(n, TX + TAIL, n->tx_next);
	n->counts.tx++;
	n->counts.tx_bytes += length;
}

static void acknowledge(struct nic *n)
{
	(void)get(n, EICR);
}

static void mask(struct nic *n, bool masked)
{
	set(n, masked ? EIMC : EIMS, ENTRY);
}

/*
 * Takes note of the physical function: that it was reset, or a message of its driver, which lacks a
 * bit if this function must start again. Then its rings are lost.
 */
static bool is_lost(struct nic *n)
{
	uint32_t mailbox = get(n, MAILBOX);

	if (mailbox & (MAILBOX_RESET | MAILBOX_RESETS))
		n->lost = true;
	if (mailbox & MAILBOX_REPLY) {
		n->lost |= !(get(n, WORDS) & MESSAGE_CLEAR);
		set(n, MAILBOX, MAILBOX_ACK);
	}
	if (n->lost && !(mailbox & MAILBOX_RESETS))
		n->lost = start(n);
	return n->lost;
}

static bool link(struct nic *n)
{
	if (is_lost(n))
		return false;
	return get(n, STATUS) & STATUS_LU;
}

const struct nic_driver igbvf_driver = {
	.vendor = 0x8086, .device = 0x10CA, .registers = IGBVF_REGISTERS,
	.memory = sizeof(struct igbvf_memory), .msix = true,
	.start = start, .receive = receive, .release = release, .room = room, .send = send,
	.acknowledge = acknowledge, .mask = mask, .link = link,
};
