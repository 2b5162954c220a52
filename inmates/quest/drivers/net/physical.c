// SPDX-License-Identifier: GPL-2.0-only
#include "physical.h"

#define ROUNDS		100
#define PAUSE_US	1000

bool physical_wait(struct nic *n, unsigned int reg, uint32_t bit, bool set)
{
	unsigned int i;

	for (i = 0; i < ROUNDS && !!(nic_get(n, reg) & bit) != set; i++)
		n->pause_us(PAUSE_US);
	return i < ROUNDS;
}

void physical_acknowledge(struct nic *n)
{
	nic_set(n, PF_ICR, nic_get(n, PF_ICR));
}

/* The bits of a register that is gone are ones. So the reset of such a function does not end. */
bool physical_reset(struct nic *n)
{
	bool ended;

	nic_set(n, PF_IMC, ~0u);
	nic_set(n, PF_RCTL, 0);
	nic_set(n, PF_TCTL, 0);
	nic_set(n, PF_CTRL, nic_get(n, PF_CTRL) | PF_CTRL_STOP_DMA);
	/* if it does not stop, the reset still ends its DMA */
	(void)physical_wait(n, PF_STATUS, PF_STATUS_DMA, false);
	nic_set(n, PF_CTRL, nic_get(n, PF_CTRL) | PF_CTRL_RST);
	n->pause_us(PAUSE_US);
	ended = physical_wait(n, PF_CTRL, PF_CTRL_RST, false);
	nic_set(n, PF_IMC, ~0u);
	physical_acknowledge(n);
	return ended;
}

/* The function loads the address from its own memory, which may last longer than the reset. */
bool physical_address(struct nic *n)
{
	uint32_t low, high;
	unsigned int i;

	(void)physical_wait(n, PF_RAH, PF_RAH_VALID, true);
	low = nic_get(n, PF_RAL);
	high = nic_get(n, PF_RAH);
	for (i = 0; i < 4; i++)
		n->address[i] = (uint8_t)(low >> 8 * i);
	n->address[4] = (uint8_t)high;
	n->address[5] = (uint8_t)(high >> 8);
	return high & PF_RAH_VALID && !(n->address[0] & 1) && (low || high & 0xFFFF);
}

void physical_filter(struct nic *n)
{
	unsigned int i;

	for (i = 0; i < PF_MTA_WORDS; i++)
		nic_set(n, PF_MTA + 4 * i, 0);
	nic_set(n, PF_RXCSUM, 0);
	nic_set(n, PF_RFCTL, 0);
	nic_set(n, PF_MRQC, 0);
}

void physical_listen(struct nic *n, unsigned int entry, const uint8_t address[NIC_ADDRESS])
{
	nic_set(n, PF_RAL + 8 * entry, (uint32_t)address[0] | (uint32_t)address[1] << 8 |
				       (uint32_t)address[2] << 16 | (uint32_t)address[3] << 24);
	nic_set(n, PF_RAH + 8 * entry, (uint32_t)address[4] | (uint32_t)address[5] << 8 |
				       PF_RAH_VALID);
}

bool physical_link(struct nic *n)
{
	return nic_get(n, PF_STATUS) & PF_STATUS_LU;
}
