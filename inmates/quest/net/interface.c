// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <lwip/dhcp.h>
#include <lwip/etharp.h>
#include <lwip/init.h>
#include <lwip/netif.h>
#include <lwip/timeouts.h>
#include <netif/ethernet.h>
#include "../drivers/net/driver.h"
#include "interface.h"

#define WHOLE	60
#define MTU	(NIC_FRAME_MAX - NIC_FRAME_MIN)

static struct netif netif;
static const struct port *port;
static uint64_t lost;

/* lwIP sends a frame, which may have several parts. */
static err_t send(struct netif *unused, struct pbuf *p)
{
	volatile uint8_t *room;

	(void)unused;
	if (p->tot_len > NIC_FRAME_MAX)
		return ERR_BUF;
	room = port->room();
	if (!room)
		return ERR_MEM;
	pbuf_copy_partial(p, (void *)room, p->tot_len, 0);
	port->send(p->tot_len);
	return ERR_OK;
}

static err_t begin(struct netif *n)
{
	n->name[0] = 'e';
	n->name[1] = 'n';
	n->output = etharp_output;
	n->linkoutput = send;
	n->mtu = MTU;
	n->hwaddr_len = NIC_ADDRESS;
	memcpy(n->hwaddr, port->address(), NIC_ADDRESS);
	n->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET;
	return ERR_OK;
}

bool interface_start(const struct port *by, const struct net_wish *wish)
{
	ip4_addr_t address, mask, gateway;

	memcpy(&address.addr, wish->address, sizeof(address.addr));
	memcpy(&gateway.addr, wish->gateway, sizeof(gateway.addr));
	mask.addr = wish->prefix ? lwip_htonl(~0u << (32 - wish->prefix)) : 0;
	port = by;
	lwip_init();
	netif_add(&netif, &address, &mask, &gateway, NULL, begin, ethernet_input);
	netif_set_default(&netif);
	netif_set_hostname(&netif, wish->name);
	netif_set_up(&netif);
	return !wish->dhcp || dhcp_start(&netif) == ERR_OK;
}

/* The thread `net` may change the address meanwhile: interrupts are off. */
struct interface_now interface_now(void)
{
	const struct dhcp *dhcp = netif_dhcp_data(&netif);
	struct interface_now now = { .prefix = 0 };
	bool irqs = irq_save();

	memcpy(now.address, netif_ip4_addr(&netif), sizeof(now.address));
	memcpy(now.gateway, netif_ip4_gw(&netif), sizeof(now.gateway));
	now.prefix = (unsigned int)__builtin_popcount(netif_ip4_netmask(&netif)->addr);
	if (dhcp && netif_ip4_addr(&netif)->addr) {
		memcpy(now.server, &dhcp->server_ip_addr.addr, sizeof(now.server));
		now.lease_s = dhcp->offered_t0_lease;
	}
	irq_restore(irqs);
	return now;
}

/*
 * lwIP gets a copy, which the function cannot change while lwIP looks at it. On a cable no frame is
 * shorter than WHOLE, and lwIP reads the header of IP before it compares its length with that
 * of the frame. So shorter frames get zeros at their end.
 */
static void copy(const volatile uint8_t *frame, size_t length)
{
	struct pbuf *p = pbuf_alloc(PBUF_RAW, (u16_t)LWIP_MAX(length, WHOLE), PBUF_RAM);

	if (!p) {
		lost++;
		return;
	}
	if (length < WHOLE)
		memset((uint8_t *)p->payload + length, 0, WHOLE - length);
	pbuf_take(p, (const void *)frame, (u16_t)length);
	if (netif.input(p, &netif) != ERR_OK)
		pbuf_free(p);
}

bool interface_take(unsigned int most)
{
	const volatile uint8_t *frame;
	unsigned int i;
	size_t length;

	for (i = 0; i < most; i++) {
		length = port->receive(&frame);
		if (!length)
			return false;
		if (frame)
			copy(frame, length);
		port->release();
	}
	return true;
}

void interface_tick(void)
{
	bool up = port->link();

	port->tick();
	/* a function that has started again within link() may have another address */
	if (netif_is_link_up(&netif) &&
	    (!up || memcmp(netif.hwaddr, port->address(), NIC_ADDRESS)))
		netif_set_link_down(&netif);
	if (up && !netif_is_link_up(&netif)) {
		memcpy(netif.hwaddr, port->address(), NIC_ADDRESS);
		netif_set_link_up(&netif);	/* tells the others the address */
	}
	sys_check_timeouts();
}

uint64_t interface_lost(void)
{
	return lost;
}
