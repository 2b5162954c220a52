// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <lwip/udp.h>
#include "end.h"
#include "table.h"
/* After lwIP's headers, which have errors of their own */
#include "../user/include/quest/errors.h"

/* A datagram has come. It is lost if the program has not taken the last SOCKET_QUEUE of them. */
static void receive(void *arg, struct udp_pcb *pcb, struct pbuf *p, const ip_addr_t *from,
		    u16_t port)
{
	struct socket *s = arg;
	struct datagram *d = &s->memory->received[ring_slot(s->head, SOCKET_QUEUE)];

	(void)pcb;
	if (s->head - s->tail < SOCKET_QUEUE && p->tot_len <= QUEST_DATAGRAM) {
		d->address = (struct quest_address){ .ip = from->addr, .port = port };
		d->length = p->tot_len;
		pbuf_copy_partial(p, d->data, p->tot_len, 0);
		barrier();
		s->head++;
		socket_changed();
	}
	pbuf_free(p);
}

static long bind(struct socket *s)
{
	ip_addr_t address = { .addr = s->address.ip };

	if (!end_has(address.addr))
		return -EADDRNOTAVAIL;
	return end_error(udp_bind(s->pcb, &address, (u16_t)s->address.port));
}

static long send(struct socket *s)
{
	const struct datagram *d = &s->memory->sent;
	ip_addr_t address = { .addr = s->address.ip };
	struct pbuf *p = pbuf_alloc(PBUF_TRANSPORT, (u16_t)d->length, PBUF_RAM);
	err_t error;

	if (!p)
		return -ENOMEM;
	pbuf_take(p, d->data, (u16_t)d->length);
	error = udp_sendto(s->pcb, p, &address, (u16_t)s->address.port);
	pbuf_free(p);
	return end_error(error);
}

static long connect(struct socket *s)
{
	ip_addr_t address = { .addr = s->address.ip };
	err_t error = udp_connect(s->pcb, &address, (u16_t)s->address.port);

	if (error == ERR_OK)
		s->there = s->address;
	return end_error(error);
}

static long carry_out(struct socket *s)
{
	switch (s->request) {
	case REQUEST_BIND: return bind(s);
	case REQUEST_SEND: return send(s);
	case REQUEST_CONNECT: return connect(s);
	default: return -EINVAL;
	}
}

long udp_request(struct socket *s)
{
	const struct udp_pcb *pcb;
	long answer;

	if (!s->pcb) {
		s->pcb = udp_new();
		if (!s->pcb)
			return -ENOMEM;
		udp_recv(s->pcb, receive, s);
	}
	pcb = s->pcb;
	if (s->reuse)
		ip_set_option((struct udp_pcb *)s->pcb, SOF_REUSEADDR);
	answer = carry_out(s);
	s->here = (struct quest_address){ .ip = pcb->local_ip.addr, .port = pcb->local_port };
	return answer;
}

void udp_end(struct socket *s)
{
	if (s->pcb)
		udp_remove(s->pcb);
}
