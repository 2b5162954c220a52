// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/ring.h>
#include <lwip/udp.h>
#include "table.h"
#include "udp.h"
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
		socket_received(s);
	}
	pbuf_free(p);
}

static long error_of(err_t error)
{
	switch (error) {
	case ERR_OK: return 0;
	case ERR_MEM: return -ENOMEM;
	case ERR_USE: return -EADDRINUSE;
	case ERR_RTE: return -EHOSTUNREACH;
	default: return -EINVAL;
	}
}

static long bind(struct socket *s)
{
	ip_addr_t address = { .addr = s->address.ip };

	return error_of(udp_bind(s->pcb, &address, s->address.port));
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
	error = udp_sendto(s->pcb, p, &address, s->address.port);
	pbuf_free(p);
	return error_of(error);
}

static long carry_out(struct socket *s)
{
	if (!s->pcb) {
		s->pcb = udp_new();
		if (!s->pcb)
			return -ENOMEM;
		udp_recv(s->pcb, receive, s);
	}
	return s->request == REQUEST_BIND ? bind(s) : send(s);
}

void udp_serve(void)
{
	struct socket *s;
	unsigned int n;

	for (n = 0; n < SOCKETS_MAX; n++) {
		s = socket_at(n);
		if (!s->used)
			continue;
		if (s->request == REQUEST_BIND || s->request == REQUEST_SEND)
			socket_answer(s, carry_out(s));
		if (s->opens || s->calls)
			continue;
		if (s->pcb)
			udp_remove(s->pcb);
		socket_free(s);
	}
}
