// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams, in the thread `net`. lwIP gets copies of the bytes to send, so that a closed connection
 * does not need its socket any longer, and lwIP alone ends it. The argument (tcp_arg) of such a
 * connection is its owner, the job of the socket.
 */
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include <lwip/priv/tcp_priv.h>
#include <lwip/tcp.h>
#include "end.h"
#include "table.h"
/* After lwIP's headers, which have errors of their own */
#include "../user/include/quest/errors.h"

#define LINGER_US	10000000	/* a closed socket keeps what lwIP does not take so long */
#define CLOSING_MAX	16		/* connections that no socket has, but the other end has */
#define TIME_WAIT_MAX	64
#define LINGER_OF_ONE	8		/* closed sockets of a job that keep bytes */
#define OWNER(job)	((void *)((uintptr_t)(job) << 1 | 1))	/* odd, unlike a socket's address */

_Static_assert(TCP_WND <= SOCKET_BYTES, "whatever fits into the window fits into the ring");

static unsigned int closing, waiting;

/* From now on lwIP alone has the connection. */
static struct tcp_pcb *detach(struct socket *s)
{
	struct tcp_pcb *pcb = s->pcb;

	tcp_arg(pcb, OWNER(s->job));
	tcp_recv(pcb, NULL);
	tcp_sent(pcb, NULL);
	tcp_err(pcb, NULL);
	s->pcb = NULL;
	s->state = STREAM_GONE;
	return pcb;
}

static void drop(struct socket *s)
{
	tcp_abort(detach(s));
}

static void note_names(struct socket *s, const struct tcp_pcb *pcb)
{
	bool irqs = irq_save();

	s->here = (struct quest_address){ .ip = pcb->local_ip.addr, .port = pcb->local_port };
	s->there = (struct quest_address){ .ip = pcb->remote_ip.addr, .port = pcb->remote_port };
	irq_restore(irqs);
}

/* Gives lwIP what it takes of the bytes to send, and then their end. */
static void push(struct socket *s)
{
	struct tcp_pcb *pcb = s->pcb;
	uint32_t n, slot;

	for (;;) {
		slot = ring_slot(s->out_tail, SOCKET_BYTES);
		n = LWIP_MIN(s->out_head - s->out_tail, SOCKET_BYTES - slot);
		n = LWIP_MIN(n, tcp_sndbuf(pcb));
		if (!n || tcp_write(pcb, s->memory->out + slot, (u16_t)n, TCP_WRITE_FLAG_COPY))
			break;
		s->out_tail += n;
	}
	tcp_output(pcb);
	if (!s->shut_out || s->out_head != s->out_tail || s->fin)
		return;
	s->fin = tcp_shutdown(pcb, 0, 1) == ERR_OK;
	if (s->fin && s->ended)
		detach(s);
}

/* Says how many bytes the program has taken, so that the other end may send as many. */
static void tell(struct socket *s)
{
	uint32_t tail = s->tail;

	if (tail == s->told)
		return;
	tcp_recved(s->pcb, (u16_t)(tail - s->told));
	s->told = tail;
}

/* ---- what lwIP calls ---- */

/* Keeps bytes for the program. */
static void keep(struct socket *s, const struct pbuf *p)
{
	uint32_t slot = ring_slot(s->head, SOCKET_BYTES);
	u16_t first = (u16_t)LWIP_MIN(p->tot_len, SOCKET_BYTES - slot);

	pbuf_copy_partial(p, s->memory->in + slot, first, 0);
	pbuf_copy_partial(p, s->memory->in, (u16_t)(p->tot_len - first), first);
	barrier();
	s->head += p->tot_len;
}

static err_t received(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t error)
{
	struct socket *s = arg;

	(void)error;
	if (!p) {
		s->ended = true;
		if (s->fin)
			detach(s);
	} else if (s->shut_in || !s->opens) {
		tcp_recved(pcb, p->tot_len);
		pbuf_free(p);
	} else if (SOCKET_BYTES - (s->head - s->tail) < p->tot_len) {
		return ERR_MEM;
	} else {
		keep(s, p);
		pbuf_free(p);
	}
	socket_changed();
	return ERR_OK;
}

static err_t sent(void *arg, struct tcp_pcb *pcb, u16_t n)
{
	(void)pcb;
	(void)n;
	push(arg);
	socket_changed();
	return ERR_OK;
}

/* lwIP has dropped the connection. */
static void failed(void *arg, err_t error)
{
	struct socket *s = arg;

	s->pcb = NULL;
	if (s->state == STREAM_CONNECTING) {
		s->error = error == ERR_RST ? ECONNREFUSED : ETIMEDOUT;
		s->here.port = 0;
		barrier();
		s->state = STREAM_NEW;
	} else {
		s->error = error == ERR_RST ? ECONNRESET : error == ERR_ABRT ? ETIMEDOUT : 0;
		barrier();
		s->state = STREAM_GONE;
	}
	socket_changed();
}

static void attach(struct socket *s, struct tcp_pcb *pcb)
{
	s->pcb = pcb;
	tcp_arg(pcb, s);
	tcp_recv(pcb, received);
	tcp_sent(pcb, sent);
	tcp_err(pcb, failed);
}

static err_t connected(void *arg, struct tcp_pcb *pcb, err_t error)
{
	struct socket *s = arg;

	(void)error;
	note_names(s, pcb);
	s->state = STREAM_OPEN;
	socket_changed();
	return ERR_OK;
}

/* A closed socket whose bytes the other end does not take. */
static bool is_kept(const struct socket *s)
{
	return s->used && s->stream && !s->opens && !s->calls && s->pcb && s->state == STREAM_OPEN;
}

/* Returns how many such sockets `job` has, and the oldest of them, by the time of closing. */
static unsigned int kept_of(int job, struct socket **oldest)
{
	struct socket *s;
	unsigned int n, count = 0;

	*oldest = NULL;
	for (n = 0; n < SOCKETS_MAX; n++) {
		s = socket_at(n);
		if (!is_kept(s) || s->job != job)
			continue;
		count++;
		if (!*oldest || s->closed_at < (*oldest)->closed_at)
			*oldest = s;
	}
	return count;
}

/*
 * Drops the oldest such socket of the job that has most of them, to have its place. Returns false
 * if no job has more than `allowed`.
 */
static bool make_room(unsigned int allowed)
{
	struct socket *oldest, *found = NULL;
	unsigned int n, count;

	for (n = 0; n < SOCKETS_MAX; n++) {
		if (!is_kept(socket_at(n)))
			continue;
		count = kept_of(socket_at(n)->job, &oldest);
		if (count <= allowed)
			continue;
		allowed = count;
		found = oldest;
	}
	if (!found)
		return false;
	drop(found);
	socket_free(found);
	return true;
}

static err_t accepted(void *arg, struct tcp_pcb *pcb, err_t error)
{
	struct socket *listener = arg, *s;

	if (error != ERR_OK || !pcb)
		return ERR_VAL;
	s = socket_queue(listener);
	if (!s && sockets_used() == SOCKETS_MAX && make_room(0))
		s = socket_queue(listener);
	if (!s)
		return ERR_MEM;		/* lwIP resets the connection */
	attach(s, pcb);
	tcp_backlog_delayed(pcb);
	note_names(s, pcb);
	s->state = STREAM_OPEN;
	socket_queued(listener, s);
	return ERR_OK;
}

/* ---- requests ---- */

static void set_options(const struct socket *s, struct tcp_pcb *pcb)
{
	if (s->reuse)
		ip_set_option(pcb, SOF_REUSEADDR);
	else
		ip_reset_option(pcb, SOF_REUSEADDR);
	if (s->state == STREAM_LISTENS)
		return;
	if (s->keep_alive)
		ip_set_option(pcb, SOF_KEEPALIVE);
	else
		ip_reset_option(pcb, SOF_KEEPALIVE);
	if (s->no_delay)
		tcp_nagle_disable(pcb);
	else
		tcp_nagle_enable(pcb);
}

static long bind(struct socket *s)
{
	ip_addr_t address = { .addr = s->address.ip };

	if (s->here.port)
		return -EINVAL;
	if (!end_has(address.addr))
		return -EADDRNOTAVAIL;
	return end_error(tcp_bind(s->pcb, &address, (u16_t)s->address.port));
}

/* lwIP alone lets two sockets with SOF_REUSEADDR listen at a port: of any address, and of one. */
static bool taken(const struct tcp_pcb *pcb)
{
	const struct socket *s;
	unsigned int n;

	for (n = 0; n < SOCKETS_MAX; n++) {
		s = socket_at(n);
		if (s->used && s->stream && s->state == STREAM_LISTENS &&
		    s->here.port == pcb->local_port)
			return true;
	}
	return false;
}

static long listen(struct socket *s)
{
	struct tcp_pcb *pcb = s->pcb, *listener;
	err_t error;

	if (!pcb->local_port) {
		error = tcp_bind(pcb, IP_ADDR_ANY, 0);
		if (error)
			return end_error(error);
	}
	if (taken(pcb))
		return -EADDRINUSE;
	listener = tcp_listen_with_backlog_and_err(pcb, (u8_t)s->backlog, &error);
	if (!listener)
		return end_error(error);
	s->pcb = listener;
	tcp_arg(listener, s);
	tcp_accept(listener, accepted);
	s->state = STREAM_LISTENS;
	return 0;
}

static long connect(struct socket *s)
{
	ip_addr_t address = { .addr = s->address.ip };
	err_t error;

	s->state = STREAM_CONNECTING;
	error = tcp_connect(s->pcb, &address, (u16_t)s->address.port, connected);
	if (error)
		s->state = STREAM_NEW;
	return end_error(error);
}

static long carry_out(struct socket *s)
{
	switch (s->request) {
	case REQUEST_BIND: return bind(s);
	case REQUEST_LISTEN: return listen(s);
	case REQUEST_CONNECT: return connect(s);
	default: return -EINVAL;
	}
}

long tcp_request(struct socket *s)
{
	struct tcp_pcb *pcb = s->pcb;
	long answer;

	if (s->state == STREAM_LISTENS && s->request == REQUEST_LISTEN) {
		tcp_backlog_set((struct tcp_pcb_listen *)pcb, (u8_t)s->backlog);
		return 0;
	}
	if (s->state != STREAM_NEW)
		return -EINVAL;
	if (!pcb) {
		pcb = tcp_new();
		if (!pcb)
			return -ENOMEM;
		attach(s, pcb);
	}
	set_options(s, pcb);
	answer = carry_out(s);
	pcb = s->pcb;			/* listen() has replaced it */
	if (!answer)
		s->here = (struct quest_address){ pcb->local_ip.addr, pcb->local_port };
	return answer;
}

void tcp_serve(struct socket *s)
{
	if (s->state != STREAM_OPEN || !s->pcb)
		return;
	set_options(s, s->pcb);
	if (!s->queued)
		tcp_backlog_accepted(s->pcb);
	tell(s);
	push(s);
}

/* ---- the end ---- */

/* The sockets that wait for accept() lose their descriptor, and are closed next. */
static void leave_queue(struct socket *listener)
{
	struct socket *s;

	while (listener->queue_tail != listener->queue_head) {
		s = socket_at(listener->queue[ring_slot(listener->queue_tail++, SOMAXCONN)]);
		s->queued = false;
		s->opens = 0;
		if (s->pcb)
			drop(s);
	}
}

static bool lingers(const struct socket *s)
{
	return s->out_head != s->out_tail &&
	       rdtsc() - s->closed_at < timer_from_us(LINGER_US);
}

bool tcp_end(struct socket *s)
{
	struct tcp_pcb *pcb;

	if (s->state == STREAM_LISTENS)
		leave_queue(s);
	if (!s->pcb)
		return true;
	if (s->state == STREAM_OPEN && s->head == s->tail && lingers(s))
		return false;
	if (s->state == STREAM_OPEN && (s->head != s->tail || s->out_head != s->out_tail)) {
		drop(s);
		return true;
	}
	if (s->state == STREAM_LISTENS) {
		tcp_arg(s->pcb, NULL);
		tcp_close(s->pcb);
		return true;
	}
	pcb = detach(s);
	if (tcp_close(pcb))
		tcp_abort(pcb);
	return true;
}

/* Whether no socket has the connection, nor will have it. */
static bool is_loose(const struct tcp_pcb *pcb)
{
	return ((uintptr_t)pcb->callback_arg & 1 || !pcb->callback_arg) && pcb->state != SYN_RCVD;
}

/*
 * Returns how many such connections of `list` have this owner, and the oldest of them: lwIP adds
 * connections at the head.
 */
static unsigned int loose_of(struct tcp_pcb *list, const void *owner, struct tcp_pcb **oldest)
{
	unsigned int count = 0;

	for (; list; list = list->next) {
		if (!is_loose(list) || list->callback_arg != owner)
			continue;
		count++;
		*oldest = list;
	}
	return count;
}

/* Returns the oldest such connection of the owner that has most of them, or NULL. */
static struct tcp_pcb *next_to_go(struct tcp_pcb *list)
{
	struct tcp_pcb *pcb, *oldest = NULL, *found = NULL;
	unsigned int count, most = 0;

	for (pcb = list; pcb; pcb = pcb->next) {
		if (!is_loose(pcb))
			continue;
		count = loose_of(list, pcb->callback_arg, &oldest);
		if (count <= most)
			continue;
		most = count;
		found = oldest;
	}
	return found;
}

/* Drops such connections if there are more than `most`. Returns how many remain. */
static unsigned int keep_some(struct tcp_pcb **list, unsigned int most)
{
	const struct tcp_pcb *pcb;
	unsigned int n = 0;

	for (pcb = *list; pcb; pcb = pcb->next)
		n += is_loose(pcb);
	for (; n > most; n--)
		tcp_abort(next_to_go(*list));
	return n;
}

void tcp_trim(void)
{
	while (make_room(LINGER_OF_ONE))
		;
	waiting = keep_some(&tcp_tw_pcbs, TIME_WAIT_MAX);
	closing = keep_some(&tcp_active_pcbs, CLOSING_MAX);
}

unsigned int tcp_closing(void)
{
	return closing;
}

unsigned int tcp_waiting(void)
{
	return waiting;
}
