// SPDX-License-Identifier: GPL-2.0-only
#include "advanced.h"

static volatile struct advanced_memory *memory(const struct nic *n)
{
	return n->memory;
}

static void queue(struct nic *n, unsigned int ring)
{
	nic_set(n, ring + ADVANCED_CONTROL, 0);
	nic_place_ring(n, ring);
	nic_set(n, ring + ADVANCED_CONTROL, ADVANCED_ENABLE);
}

void advanced_start(struct nic *n)
{
	nic_give_all(n);
	nic_set(n, RING_RX + ADVANCED_SPLIT, ADVANCED_SPLIT_ONE);
	queue(n, RING_RX);
	queue(n, RING_TX);
}

static void give(struct nic *n, uint32_t i)
{
	volatile struct advanced_rx *d = &memory(n)->rx[i];

	d->status = 0;
	d->length = d->vlan = 0;
	d->address = nic_rx_bus(n, i);
}

static bool take(struct nic *n, uint32_t i, struct nic_received *r)
{
	volatile struct advanced_rx *d = &memory(n)->rx[i];
	uint32_t status = d->status;

	if (!(status & ADVANCED_DONE))
		return false;
	nic_ordered();
	r->length = d->length;
	r->end = status & ADVANCED_RX_END;
	r->bad = status & ADVANCED_RX_ERROR;
	return true;
}

static void fill(struct nic *n, uint32_t i, size_t length)
{
	volatile struct advanced_tx *d = &memory(n)->tx[i];

	d->address = nic_tx_bus(n, i);
	d->status = (uint32_t)length << ADVANCED_TX_LENGTH;
	d->command = ADVANCED_TX_FRAME | (uint32_t)length;
}

static bool is_sent(const struct nic *n, uint32_t i)
{
	return memory(n)->tx[i].status & ADVANCED_DONE;
}

const struct nic_rings advanced_rings = {
	.give = give, .take = take, .fill = fill, .is_sent = is_sent,
};
