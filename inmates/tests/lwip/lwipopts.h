/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Quest's options for lwIP, with those changed that lwIP's own tests need: they count allocations
 * in pools, and expect certain sizes.
 */
#ifndef LWIP_TESTS_LWIPOPTS_H
#define LWIP_TESTS_LWIPOPTS_H

#include "../../quest/net/lwip/lwipopts.h"

#define LWIP_TESTMODE			1
#undef LWIP_STATS
#define LWIP_STATS			1
#define MIB2_STATS			1

/* memory */
#undef MEMP_MEM_MALLOC
#undef MEM_SIZE
#undef LWIP_RAM_HEAP_POINTER
#undef PBUF_POOL_BUFSIZE
#undef MEMP_NUM_REASSDATA
#define MEM_SIZE			17000
#define PBUF_POOL_SIZE			400
#define MEMP_NUM_TCP_SEG		40
#define MEMP_NUM_SYS_TIMEOUT		(LWIP_NUM_SYS_TIMEOUT_INTERNAL + 8)
#define LWIP_MEM_ILLEGAL_FREE(what)

/* protocols */
#undef ARP_TABLE_SIZE
#undef LWIP_DHCP_DOES_ACD_CHECK
#undef TCP_LISTEN_BACKLOG
#undef TCP_MSS
#undef TCP_OOSEQ_MAX_PBUFS
#undef TCP_SND_BUF
#undef TCP_WND
#define TCP_SND_BUF			(12 * TCP_MSS)
#define TCP_SND_QUEUELEN		40
#define TCP_WND				(10 * TCP_MSS)
#define LWIP_WND_SCALE			1
#define TCP_RCV_SCALE			0
#define ETHARP_SUPPORT_STATIC_ENTRIES	1
#define LWIP_HAVE_LOOPIF		1
#define LWIP_NETIF_LOOPBACK		1
#define LWIP_NETIF_EXT_STATUS_CALLBACK	1

#endif
