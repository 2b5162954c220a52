// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/string.h>
#include "apart.h"
#include "nicrings.h"

_Static_assert(sizeof(struct quest_nic_out) % 4096 == 0 && sizeof(struct quest_nic_in) % 4096 == 0,
	       "whole pages, since the program may write one of them only");
_Static_assert(QUEST_NIC_FRAME == NIC_FRAME_MAX, "the longest frame");

static volatile struct quest_nic_out *out(const struct nic *n)
{
	return &((volatile struct apart_area *)n->memory)->out;
}

static volatile struct quest_nic_in *in(const struct nic *n)
{
	return &((volatile struct apart_area *)n->memory)->in;
}

/* The driver must end: it has said something impossible. From now on no frame passes. */
static void reject(struct nic *n, const char *why)
{
	n->wrong = why;
	n->lost = true;
}

void apart_begin(struct nic *n)
{
	volatile uint32_t *words[] = { &out(n)->put, &out(n)->taken, &in(n)->put, &in(n)->taken,
				       &in(n)->started, &in(n)->link, &in(n)->bad };
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		*words[i] = 0;
	n->rx_next = n->tx_next = n->tx_oldest = 0;
	n->wrong = NULL;
	n->lost = false;
}

bool apart_started(struct nic *n)
{
	uint8_t address[NIC_ADDRESS], some = 0;
	unsigned int i;

	if (n->lost || !in(n)->started)
		return false;
	nic_ordered();
	for (i = 0; i < NIC_ADDRESS; i++) {
		address[i] = in(n)->address[i];
		some |= address[i];
	}
	if (address[0] & 1 || !some) {
		reject(n, "its address is not one of an interface");
		return false;
	}
	memcpy(n->address, address, sizeof(address));
	return true;
}

static bool link(struct nic *n)
{
	n->counts.rx_bad = in(n)->bad;
	return apart_started(n) && in(n)->link;
}

static size_t receive(struct nic *n, const volatile uint8_t **frame)
{
	volatile struct quest_nic_slot *slot = &in(n)->slots[n->rx_next % QUEST_NIC_RECEIVED];
	uint32_t waiting, length;

	if (n->lost)
		return 0;
	waiting = in(n)->put - n->rx_next;
	if (!waiting)
		return 0;
	if (waiting > QUEST_NIC_RECEIVED) {
		reject(n, "it says that more frames wait than have room");
		return 0;
	}
	nic_ordered();
	length = slot->length;
	if (length < NIC_FRAME_MIN || length > NIC_FRAME_MAX) {
		reject(n, "it says a length that no frame has");
		return 0;
	}
	n->counts.rx++;
	n->counts.rx_bytes += length;
	*frame = slot->frame;
	return length;
}

/* The frame was copied before the driver may use its slot again. */
static void release(struct nic *n)
{
	nic_ordered();
	out(n)->taken = ++n->rx_next;
}

/* Takes note of how many frames the driver has sent, which only grows. */
static bool note_sent(struct nic *n)
{
	uint32_t taken = in(n)->taken;

	if (taken - n->tx_oldest > n->tx_next - n->tx_oldest) {
		reject(n, "it says that it has sent frames that it was not given");
		return false;
	}
	n->tx_oldest = taken;
	return true;
}

static volatile uint8_t *room(struct nic *n)
{
	if (n->lost || !note_sent(n))
		return NULL;
	if (n->tx_next - n->tx_oldest < QUEST_NIC_SENT)
		return out(n)->slots[n->tx_next % QUEST_NIC_SENT].frame;
	n->counts.tx_full++;
	return NULL;
}

static void send(struct nic *n, size_t length)
{
	out(n)->slots[n->tx_next % QUEST_NIC_SENT].length = (uint32_t)length;
	nic_ordered();
	out(n)->put = ++n->tx_next;
	n->counts.tx++;
	n->counts.tx_bytes += length;
}

/* A driver that starts later finds the addresses, too. */
static void listen(struct nic *n, unsigned int entry, const uint8_t address[NIC_ADDRESS])
{
	memcpy((void *)out(n)->listen[entry - 1], address, NIC_ADDRESS);
	nic_ordered();
	out(n)->listening = entry;
}

const struct nic_driver apart_driver = {
	.memory = sizeof(struct apart_area),
	.receive = receive, .release = release, .room = room, .send = send, .listen = listen,
	.link = link,
};
