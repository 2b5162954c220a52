// SPDX-License-Identifier: GPL-2.0-only
#include "e1000e.h"
#include "physical.h"

/* Registers and bits besides those of physical.h: Intel 82574 datasheet, chapter 10 */
#define CTRL_ASDE	(1u << 5)	/* detects the speed */
#define CTRL_EXT_PBA	(1u << 31)	/* a message of MSI-X is no longer pending */
#define ITR		0x00C4
#define EIAC		0x00DC		/* causes that a message of MSI-X clears */
#define IVAR		0x00E4		/* entries of MSI-X for causes */
#define IVAR_ENTRY	(8u | NIC_MSIX)
#define IVAR_OTHER	16		/* shift for all causes but those of queues */
#define EITR		0x00E8		/* pause between messages of entry 0 */
#define CAUSE_RX_FEW	(1u << 4)	/* few free descriptors are left */
#define CAUSE_RX_LOST	(1u << 6)
#define CAUSE_RX	(1u << 7)
#define CAUSE_QUEUE	(1u << 20)	/* of MSI-X: received frames */
#define CAUSE_OTHER	(1u << 24)	/* of MSI-X: the link, lost frames */
#define TCTL_RETRIES	(15u << 4)
#define TCTL_DISTANCE	(64u << 12)
#define TIPG		0x0410
#define TIPG_USUAL	0x00602008
#define RDTR		0x2820
#define RXDCTL		0x2828
#define TXDCTL		0x3828
#define DCTL_DESCRIPTORS	(1u << 24)	/* thresholds count descriptors */
#define TXDCTL_ONE	(1u << 22)		/* must be set */

/* Bits of descriptors */
#define RX_DONE		(1u << 0)
#define RX_END		(1u << 1)	/* the last part of a frame */
#define TX_END		(1u << 0)
#define TX_CHECKSUM	(1u << 1)	/* the function appends Ethernet's checksum */
#define TX_REPORT	(1u << 3)
#define TX_DONE		(1u << 0)

#define CAUSES		(PF_CAUSE_LINK | CAUSE_RX_FEW | CAUSE_RX_LOST | CAUSE_RX)
#define MSIX_CAUSES	(PF_CAUSE_LINK | CAUSE_QUEUE | CAUSE_OTHER)

static volatile struct e1000e_memory *memory(const struct nic *n)
{
	return n->memory;
}

static void give(struct nic *n, uint32_t i)
{
	volatile struct e1000e_rx *d = &memory(n)->rx[i];

	d->status = 0;
	d->address = nic_rx_bus(n, i);
}

static void start_rx(struct nic *n)
{
	nic_give_all(n);
	physical_filter(n);
	nic_set(n, RDTR, 0);
	nic_set(n, RXDCTL, DCTL_DESCRIPTORS);
	nic_place_ring(n, RING_RX);
	nic_set(n, PF_RCTL, PF_RCTL_EN | PF_RCTL_BROADCAST | PF_RCTL_STRIP);
}

static void start_tx(struct nic *n)
{
	nic_set(n, TIPG, TIPG_USUAL);
	nic_set(n, TXDCTL, DCTL_DESCRIPTORS | TXDCTL_ONE);
	nic_place_ring(n, RING_TX);
	nic_set(n, PF_TCTL, PF_TCTL_EN | PF_TCTL_PAD | TCTL_RETRIES | TCTL_DISTANCE);
}

/* One message, by MSI or MSI-X, for received frames and for changes of the link */
static void set_causes(struct nic *n)
{
	nic_set(n, ITR, 0);
	nic_set(n, EITR + 4 * NIC_MSIX, 0);
	nic_set(n, IVAR, IVAR_ENTRY | IVAR_ENTRY << IVAR_OTHER);
	nic_set(n, EIAC, CAUSE_QUEUE);
	nic_set(n, PF_CTRL_EXT, nic_get(n, PF_CTRL_EXT) | CTRL_EXT_PBA);
}

static const char *start(struct nic *n)
{
	if (!physical_reset(n))
		return "it does not end its reset";
	if (!physical_address(n))
		return "it has no Ethernet address of its own";
	set_causes(n);
	nic_set(n, PF_CTRL, nic_get(n, PF_CTRL) | PF_CTRL_SLU | CTRL_ASDE);
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

static void mask(struct nic *n, bool masked)
{
	if (masked)
		nic_set(n, PF_IMC, ~0u);
	else
		nic_set(n, PF_IMS, n->msix ? MSIX_CAUSES : CAUSES);
}

static const struct nic_rings rings = {
	.give = give, .take = take, .fill = fill, .is_sent = is_sent,
};

const struct nic_driver e1000e_driver = {
	.vendor = 0x8086, .device = 0x10D3, .registers = PF_REGISTERS,
	.memory = sizeof(struct e1000e_memory), .msi = true, .msix = true,
	.rings = &rings, .reset = physical_reset, .start = start,
	.receive = nic_receive, .release = nic_release, .room = nic_room, .send = nic_send,
	.listen = physical_listen, .acknowledge = physical_acknowledge, .mask = mask,
	.link = physical_link,
};
