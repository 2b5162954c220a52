// SPDX-License-Identifier: GPL-2.0-only
/*
 * A machine may open a connection from the port of its last one while that is in TIME_WAIT here,
 * where the cell has closed first. lwIP would answer such a SYN with an ACK of the old connection
 * until TIME_WAIT is over, and the machine would wait for seconds. So a SYN beyond all bytes of the
 * old connection ends its TIME_WAIT, as RFC 1122, section 4.2.2.13, allows. Then lwIP takes the SYN
 * to the listener.
 */
#include <stdbool.h>
#include <lwip/priv/tcp_priv.h>
#include <lwip/prot/ip4.h>
#include <lwip/prot/tcp.h>
#include "lwip/hooks.h"

/* Returns the TCP header of a packet that is no fragment, or NULL. The first buffer has it all. */
static const struct tcp_hdr *tcp_header(const struct pbuf *p)
{
	const struct ip_hdr *ip = p->payload;
	unsigned int length;

	if (p->len < IP_HLEN || IPH_PROTO(ip) != IP_PROTO_TCP ||
	    IPH_OFFSET(ip) & PP_HTONS(IP_OFFMASK | IP_MF))
		return NULL;
	length = IPH_HL_BYTES(ip);
	if (length < IP_HLEN || p->len < length + TCP_HLEN)
		return NULL;
	return (const struct tcp_hdr *)((const unsigned char *)p->payload + length);
}

static bool same_ends(const struct tcp_pcb *pcb, const struct ip_hdr *ip,
		      const struct tcp_hdr *tcp)
{
	return pcb->remote_port == lwip_ntohs(tcp->src) &&
	       pcb->local_port == lwip_ntohs(tcp->dest) &&
	       pcb->remote_ip.addr == ip->src.addr && pcb->local_ip.addr == ip->dest.addr;
}

/* lwIP calls it with each packet of IPv4 that came, before it looks at it. 0: lwIP takes it */
int timewait_input(const struct pbuf *p)
{
	const struct tcp_hdr *tcp = tcp_header(p);
	struct tcp_pcb *pcb;

	if (!tcp || (TCPH_FLAGS(tcp) & (TCP_SYN | TCP_ACK | TCP_RST | TCP_FIN)) != TCP_SYN)
		return 0;
	for (pcb = tcp_tw_pcbs; pcb; pcb = pcb->next)
		if (same_ends(pcb, p->payload, tcp))
			break;
	if (pcb && TCP_SEQ_GT(lwip_ntohl(tcp->seqno), pcb->rcv_nxt))
		tcp_abort(pcb);
	return 0;
}
