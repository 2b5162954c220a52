// SPDX-License-Identifier: GPL-2.0-only
#include "advanced.h"
#include "igbvf.h"
#include "igbvfregs.h"

#define ENTRY		(1u << NIC_MSIX)
#define ROUNDS		5000
#define PAUSE_US	1000

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
	nic_set(n, VF_IVAR, (VF_IVAR_VALID | NIC_MSIX) | (VF_IVAR_VALID | NIC_MSIX) << 8);
	nic_set(n, VF_EIAC, ENTRY);
	advanced_start(n);
	nic_begin(n);
	return NULL;
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

const struct nic_driver igbvf_driver = {
	.vendor = 0x8086, .device = 0x10CA, .registers = IGBVF_REGISTERS,
	.memory = sizeof(struct advanced_memory), .msix = true,
	.rings = &advanced_rings, .reset = reset, .start = start,
	.receive = nic_receive, .release = nic_release, .room = nic_room, .send = nic_send,
	.acknowledge = acknowledge, .mask = mask, .link = link,
};
