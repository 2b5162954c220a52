// SPDX-License-Identifier: GPL-2.0-only
#include "igbvf.h"
#include "igbvfregs.h"

#define ENTRY		(1u << NIC_MSIX)
#define ROUNDS		5000
#define PAUSE_US	1000

static volatile struct igbvf_memory *memory(const struct nic *n)
{
	return n->memory;
}

/* Asks the driver of the physical function to let the queues run. It answers with the address. */
static const char *greet(struct nic *n)
{
	uint32_t words[3];
	unsigned int i;

	nic_set(n, VF_MAILBOX, VF_MAILBOX_OURS);
	if (!(nic_get(n, VF_MAILBOX) & VF_MAILBOX_OURS))
		return "the mailbox to the physical function is busy";
	nic_set(n, VF_WORDS, VF_MESSAGE_RESET);
	nic_set(n, VF_MAILBOX, VF_MAILBOX_REQUEST);
	for (i = 0; i < ROUNDS && !(nic_get(n, VF_MAILBOX) & VF_MAILBOX_REPLY); i++)
		n->pause_us(PAUSE_US);
	if (i == ROUNDS)
		return "the driver of the physical function does not answer";
	for (i = 0; i < 3; i++)
		words[i] = nic_get(n, VF_WORDS + 4 * i);
	nic_set(n, VF_MAILBOX, VF_MAILBOX_ACK);
	for (i = 0; i < NIC_ADDRESS; i++)
		n->address[i] = (uint8_t)(words[1 + i / 4] >> i % 4 * 8);
	if (words[0] != VF_MESSAGE_DONE || n->address[0] & 1 || !(words[1] | (words[2] & 0xFFFF)))
		return "the driver of the physical function gives it no address";
	return NULL;
}

static void queue(struct nic *n, unsigned int ring)
{
	nic_set(n, ring + VF_CONTROL, 0);
	nic_place_ring(n, ring);
	nic_set(n, ring + VF_CONTROL, VF_CONTROL_ENABLE);
}

static void give(struct nic *n, uint32_t i)
{
	volatile struct igbvf_rx *d = &memory(n)->rx[i];

	d->status = 0;
	d->length = d->vlan = 0;
	d->address = nic_rx_bus(n, i);
}

static bool reset(struct nic *n)
{
	nic_set(n, VF_EIMC, ~0u);
	nic_set(n, VF_CTRL, VF_CTRL_RST);
	n->pause_us(PAUSE_US);
	return true;
}

static const char *start(struct nic *n)
{
	const char *wrong;

	(void)reset(n);
	wrong = greet(n);
	if (wrong)
		return wrong;
	nic_give_all(n);
	nic_set(n, VF_IVAR, (VF_IVAR_VALID | NIC_MSIX) | (VF_IVAR_VALID | NIC_MSIX) << 8);
	nic_set(n, VF_EIAC, ENTRY);
	nic_set(n, RING_RX + VF_SPLIT, VF_SPLIT_ONE);
	queue(n, RING_RX);
	queue(n, RING_TX);
	nic_begin(n);
	return NULL;
}

static bool take(struct nic *n, uint32_t i, struct nic_received *r)
{
	volatile struct igbvf_rx *d = &memory(n)->rx[i];
	uint32_t status = d->status;

	if (!(status & VF_DONE))
		return false;
	nic_ordered();
	r->length = d->length;
	r->end = status & VF_RX_END;
	r->bad = status & VF_RX_ERROR;
	return true;
}

static void fill(struct nic *n, uint32_t i, size_t length)
{
	volatile struct igbvf_tx *d = &memory(n)->tx[i];

	d->address = nic_tx_bus(n, i);
	d->status = (uint32_t)length << VF_TX_LENGTH;
	d->command = VF_TX_DATA | VF_TX_END | VF_TX_CHECKSUM | VF_TX_REPORT | (uint32_t)length;
}

static bool is_sent(const struct nic *n, uint32_t i)
{
	return memory(n)->tx[i].status & VF_DONE;
}

static void acknowledge(struct nic *n)
{
	(void)nic_get(n, VF_EICR);
}

static void mask(struct nic *n, bool masked)
{
	nic_set(n, masked ? VF_EIMC : VF_EIMS, ENTRY);
}

/*
 * Takes note of the physical function: that it was reset, or a message of its driver, which lacks a
 * bit if this function must start again. Then its rings are lost.
 */
static bool is_lost(struct nic *n)
{
	uint32_t mailbox = nic_get(n, VF_MAILBOX);

	if (mailbox & (VF_MAILBOX_RESET | VF_MAILBOX_RESETS))
		n->lost = true;
	if (mailbox & VF_MAILBOX_REPLY) {
		n->lost |= !(nic_get(n, VF_WORDS) & VF_MESSAGE_CLEAR);
		nic_set(n, VF_MAILBOX, VF_MAILBOX_ACK);
	}
	if (n->lost && !(mailbox & VF_MAILBOX_RESETS))
		n->lost = start(n);
	return n->lost;
}

static bool link(struct nic *n)
{
	if (is_lost(n))
		return false;
	return nic_get(n, VF_STATUS) & VF_STATUS_LU;
}

static const struct nic_rings rings = {
	.give = give, .take = take, .fill = fill, .is_sent = is_sent,
};

const struct nic_driver igbvf_driver = {
	.vendor = 0x8086, .device = 0x10CA, .registers = IGBVF_REGISTERS,
	.memory = sizeof(struct igbvf_memory), .msix = true,
	.rings = &rings, .reset = reset, .start = start,
	.receive = nic_receive, .release = nic_release, .room = nic_room, .send = nic_send,
	.acknowledge = acknowledge, .mask = mask, .link = link,
};
