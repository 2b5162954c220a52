// SPDX-License-Identifier: GPL-2.0-only
#include "advanced.h"
#include "igb.h"
#include "physical.h"

/* Registers besides those of physical.h: Intel 82576EB datasheet 2.61, chapter 8 */
#define CTRL_EXT_DRIVER	(1u << 28)	/* a driver has the function */
#define MDIC		0x0020		/* access to the PHY's registers */
#define MDIC_NEGOTIATE	(1u << 26 | 1u << 21 | 0x1340)	/* writes register 0 of the PHY */
#define GPIE		0x1514
#define GPIE_FORGET	(1u << 0)	/* a read of ICR clears it */
#define GPIE_MSIX	(1u << 4)
#define GPIE_TABLE	(1u << 31)	/* MSI-X's pending bits are used */
#define EIMS		0x1524
#define EIMC		0x1528
#define EIAC		0x152C		/* causes that a message clears */
#define EICR		0x1580
#define EITR		0x1680		/* pause between messages of entry 0 */
#define IVAR		0x1700		/* entries for the causes of queue 0 */
#define IVAR_OTHER	0x1740
#define IVAR_ENTRY	(0x80u | NIC_MSIX)
#define IVAR_OTHER_SHIFT	8

#define ENTRY		(1u << NIC_MSIX)
#define PAUSE_US	1000

static bool reset(struct nic *n)
{
	bool ended;

	nic_set(n, EIMC, ~0u);
	ended = physical_reset(n);
	nic_set(n, EIMC, ~0u);
	return ended;
}

/* One message for received frames and for changes of the link. EIAC needs GPIE. */
static void set_causes(struct nic *n)
{
	nic_set(n, GPIE, GPIE_FORGET | GPIE_MSIX | GPIE_TABLE);
	nic_set(n, EITR + 4 * NIC_MSIX, 0);	/* a reset leaves that of another driver */
	nic_set(n, EIAC, ENTRY);
	nic_set(n, IVAR, IVAR_ENTRY);
	nic_set(n, IVAR_OTHER, IVAR_ENTRY << IVAR_OTHER_SHIFT);
	nic_set(n, PF_IMS, PF_CAUSE_LINK);
}

/* Waits until both queues run, which were enabled. That may last a while. */
static bool queues_run(struct nic *n)
{
	n->pause_us(PAUSE_US);
	return physical_wait(n, RING_RX + ADVANCED_CONTROL, ADVANCED_ENABLE, true) &&
	       physical_wait(n, RING_TX + ADVANCED_CONTROL, ADVANCED_ENABLE, true);
}

static const char *start(struct nic *n)
{
	if (!reset(n))
		return "it does not end its reset";
	if (!physical_address(n))
		return "it has no Ethernet address of its own";
	nic_set(n, PF_CTRL_EXT, nic_get(n, PF_CTRL_EXT) | CTRL_EXT_DRIVER);
	nic_set(n, PF_CTRL, nic_get(n, PF_CTRL) | PF_CTRL_SLU);
	nic_set(n, MDIC, MDIC_NEGOTIATE);
	set_causes(n);
	physical_filter(n);
	advanced_start(n);
	if (!queues_run(n))
		return "its queues do not start";
	nic_set(n, PF_RCTL, PF_RCTL_EN | PF_RCTL_BROADCAST | PF_RCTL_STRIP);
	nic_set(n, PF_TCTL, nic_get(n, PF_TCTL) | PF_TCTL_EN | PF_TCTL_PAD);
	nic_begin(n);
	return NULL;
}

static void acknowledge(struct nic *n)
{
	physical_acknowledge(n);
	nic_set(n, EICR, ENTRY);
}

static void mask(struct nic *n, bool masked)
{
	nic_set(n, masked ? EIMC : EIMS, ENTRY);
}

const struct nic_driver igb_driver = {
	.vendor = 0x8086, .device = 0x10C9, .registers = PF_REGISTERS,
	.memory = sizeof(struct advanced_memory), .msix = true,
	.rings = &advanced_rings, .reset = reset, .start = start,
	.receive = nic_receive, .release = nic_release, .room = nic_room, .send = nic_send,
	.listen = physical_listen, .acknowledge = acknowledge, .mask = mask, .link = physical_link,
};
