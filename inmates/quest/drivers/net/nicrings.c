// SPDX-License-Identifier: GPL-2.0-only
#include "nicrings.h"

/* A descriptor in the format of any function */
struct descriptor {
	uint64_t words[2];
};

/* The memory of any function */
struct memory NIC_MEMORY(struct descriptor, struct descriptor);

static volatile struct memory *memory(const struct nic *n)
{
	return n->memory;
}

uint64_t nic_rx_bus(const struct nic *n, uint32_t i)
{
	return n->bus + offsetof(struct memory, rx_buffer) + i * NIC_BUFFER;
}

uint64_t nic_tx_bus(const struct nic *n, uint32_t i)
{
	return n->bus + offsetof(struct memory, tx_buffer) + i * NIC_BUFFER;
}

void nic_place_ring(struct nic *n, unsigned int ring)
{
	bool rx = ring == RING_RX;
	uint64_t bus = n->bus + (rx ? offsetof(struct memory, rx) : offsetof(struct memory, tx));

	nic_set(n, ring + RING_LOW, (uint32_t)bus);
	nic_set(n, ring + RING_HIGH, (uint32_t)(bus >> 32));
	nic_set(n, ring + RING_LENGTH, rx ? sizeof(memory(n)->rx) : sizeof(memory(n)->tx));
	nic_set(n, ring + RING_HEAD, 0);	/* a reset leaves it in QEMU */
	nic_set(n, ring + RING_TAIL, 0);
}

void nic_give_all(struct nic *n)
{
	uint32_t i;

	for (i = 0; i < NIC_RX; i++)
		n->driver->rings->give(n, i);
}

void nic_begin(struct nic *n)
{
	nic_ordered();
	/* one is left out: head and tail that are equal mean that the function has no descriptor */
	nic_set(n, RING_RX + RING_TAIL, NIC_RX - 1);
	n->rx_next = n->tx_next = n->tx_oldest = 0;
	n->in_parts = false;
}

void nic_release(struct nic *n)
{
	n->driver->rings->give(n, n->rx_next);
	nic_ordered();
	nic_set(n, RING_RX + RING_TAIL, n->rx_next);
	n->rx_next = (n->rx_next + 1) % NIC_RX;
}

size_t nic_receive(struct nic *n, const volatile uint8_t **frame)
{
	struct nic_received r;
	unsigned int i;
	bool whole;

	for (i = 0; i < NIC_RX; i++) {
		if (!n->driver->rings->take(n, n->rx_next, &r))
			return 0;
		whole = r.end && !n->in_parts;
		n->in_parts = !r.end;
		if (whole && !r.bad && r.length >= NIC_FRAME_MIN && r.length <= NIC_FRAME_MAX) {
			n->counts.rx++;
			n->counts.rx_bytes += r.length;
			*frame = memory(n)->rx_buffer[n->rx_next];
			return r.length;
		}
		n->counts.rx_bad++;
		nic_release(n);
	}
	return 0;
}

/* Counts the descriptors that the function has done as free, in their order. */
static void reclaim(struct nic *n)
{
	while (n->tx_oldest != n->tx_next && n->driver->rings->is_sent(n, n->tx_oldest))
		n->tx_oldest = (n->tx_oldest + 1) % NIC_TX;
}

volatile uint8_t *nic_room(struct nic *n)
{
	reclaim(n);
	if ((n->tx_next + 1) % NIC_TX != n->tx_oldest)
		return memory(n)->tx_buffer[n->tx_next];
	n->counts.tx_full++;
	return NULL;
}

void nic_send(struct nic *n, size_t length)
{
	n->driver->rings->fill(n, n->tx_next, length);
	n->tx_next = (n->tx_next + 1) % NIC_TX;
	nic_ordered();
	nic_set(n, RING_TX + RING_TAIL, n->tx_next);
	n->counts.tx++;
	n->counts.tx_bytes += length;
}
