/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of lwIP that Quest uses. All of lwIP runs in one thread (net.c), so there are no locks.
 * All its memory is one heap of NET_HEAP bytes, which exists only where there is a network.
 */
#ifndef QUEST_LWIPOPTS_H
#define QUEST_LWIPOPTS_H

#define NO_SYS				1
#define SYS_LIGHTWEIGHT_PROT		0
#define LWIP_SOCKET			0
#define LWIP_NETCONN			0

/* memory */
#define NET_HEAP			(512 * 1024)
#define MEM_ALIGNMENT			8
#define MEM_SIZE			(NET_HEAP - 1024)
#define MEMP_MEM_MALLOC			1
extern unsigned char *net_heap;
#define LWIP_RAM_HEAP_POINTER		net_heap
#define PBUF_POOL_BUFSIZE		1536

/* protocols */
#define LWIP_IPV4			1
#define LWIP_IPV6			0
#define LWIP_ARP			1
#define ARP_TABLE_SIZE			32
#define ETHARP_TRUST_IP_MAC		0
#define LWIP_ICMP			1
#define LWIP_BROADCAST_PING		0
#define LWIP_MULTICAST_PING		0
#define LWIP_DHCP			1
/* the server knows which address is free; to ask for it takes seconds */
#define LWIP_DHCP_DOES_ACD_CHECK	0
#define LWIP_DNS			0
#define LWIP_IGMP			0
#define LWIP_RAW			0
#define LWIP_UDP			1
#define LWIP_TCP			1
#define IP_REASSEMBLY			1
#define IP_REASS_MAX_PBUFS		16
#define MEMP_NUM_REASSDATA		4
#define IP_FORWARD			0

#define TCP_MSS				1460
#define TCP_WND				(8 * TCP_MSS)
#define TCP_SND_BUF			(8 * TCP_MSS)
#define TCP_LISTEN_BACKLOG		1
#define SO_REUSE			1
/* segments that came too early, of one connection */
#define TCP_OOSEQ_MAX_PBUFS		4
#define LWIP_TCP_KEEPALIVE		1
#define LWIP_HOOK_FILENAME		"hooks.h"

#define LWIP_STATS			0
#define LWIP_NETIF_HOSTNAME		1
#define LWIP_NETIF_TX_SINGLE_PBUF	0

#endif
