// SPDX-License-Identifier: GPL-2.0-only
/* Calls of streams. */
#include "../drivers/net/nic.h"
#include "../kernel/dispatch.h"
#include "../kernel/process/process.h"
#include "../mm/usercopy.h"
#include "../user/include/quest/errors.h"
#include "table.h"

#define STEP	1024			/* bytes that are copied between two pauses */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint32_t held(const struct socket *s)
{
	return s->head - s->tail;
}

static uint32_t room(const struct socket *s)
{
	return SOCKET_BYTES - (s->out_head - s->out_tail);
}

/* Returns 0 if the stream may send now or later; or why not. */
static long sendable(struct socket *s)
{
	if (s->error)
		return socket_take_error(s);
	if (s->state == STREAM_NEW || s->state == STREAM_LISTENS)
		return -ENOTCONN;
	return s->state == STREAM_GONE || s->shut_out ? -EPIPE : 0;
}

static long await_room(struct socket *s, uint64_t until)
{
	long error = sendable(s);

	while (!error && (s->state == STREAM_CONNECTING || !room(s))) {
		nic_poke();
		error = socket_wait(s, until);
		if (!error)
			error = sendable(s);
	}
	return error;
}

/* Copies a part of the data, for which there is room. */
static uint32_t put(struct socket *s, const struct space *space, uint64_t from, uint64_t n)
{
	uint32_t slot = ring_slot(s->out_head, SOCKET_BYTES);
	uint32_t part = (uint32_t)least(least(n, STEP), least(room(s), SOCKET_BYTES - slot));

	if (!copy_from_user(space, s->memory->out + slot, from, part))
		return 0;
	s->out_head += part;
	return part;
}

long stream_send(struct socket *s, const struct space *space, const struct quest_datagram *d)
{
	uint64_t until = socket_until(s, d->flags, s->send_us), done = 0;
	uint32_t part;
	long error = sendable(s);

	while (!error && done < d->length) {
		error = await_room(s, until);
		if (error)
			break;
		part = put(s, space, d->data + done, d->length - done);
		if (!part)
			error = -EFAULT;
		done += part;
		let_interrupts_in();
		if (!error)
			error = process_interrupted(process_current());
	}
	nic_poke();
	return done ? (long)done : error;
}

/* Waits. Returns 0 if there are bytes, 1 at the end of the stream, or an error. */
static long await_bytes(struct socket *s, uint64_t until)
{
	long error = 0;

	while (!error && !held(s)) {
		if (s->error)
			return socket_take_error(s);
		if (s->state == STREAM_NEW || s->state == STREAM_LISTENS)
			return -ENOTCONN;
		if (s->ended || s->shut_in || s->state == STREAM_GONE)
			return 1;
		error = socket_wait(s, until);
	}
	return error;
}

/* Copies a part of the bytes, of which there are some. */
static uint32_t take(struct socket *s, const struct space *space, uint64_t to, uint64_t n,
		     bool peek)
{
	uint32_t slot = ring_slot(s->tail, SOCKET_BYTES);
	uint32_t part = (uint32_t)least(least(n, STEP), least(held(s), SOCKET_BYTES - slot));

	if (!copy_to_user(space, to, s->memory->in + slot, part))
		return 0;
	if (!peek)
		s->tail += part;
	return part;
}

long stream_receive(struct socket *s, const struct space *space, struct quest_datagram *d)
{
	uint64_t until = socket_until(s, d->flags, s->receive_us), done = 0;
	bool peek = d->flags & MSG_PEEK;
	uint32_t part;
	long error;

	if (!d->length)
		return 0;
	error = await_bytes(s, until);
	if (error)
		return error < 0 ? error : 0;
	d->address = s->there;
	do {
		part = take(s, space, d->data + done, d->length - done, peek);
		done += part;
		let_interrupts_in();
	} while (part && !peek && done < d->length && held(s) && !process_current()->ending);
	if (s->tail - s->told >= SOCKET_TOLD)
		nic_poke();
	return done ? (long)done : -EFAULT;
}

long stream_connect(struct socket *s, const struct quest_address *to)
{
	uint64_t until = socket_until(s, 0, s->send_us);
	long error = socket_await_turn(s);

	if (error)
		return error;
	switch (s->state) {
	case STREAM_NEW: break;
	case STREAM_CONNECTING: return -EALREADY;
	case STREAM_LISTENS: return -ENOTSUP;
	default: return -EISCONN;
	}
	error = socket_ask(s, REQUEST_CONNECT, to);
	while (!error && s->state == STREAM_CONNECTING)
		error = socket_wait(s, until);
	if (error == -EAGAIN)
		return -EINPROGRESS;
	return error || !s->error ? error : socket_take_error(s);
}

int socket_accept(int socket, int job, struct quest_address *from)
{
	struct socket *s = socket_at((unsigned int)socket), *accepted;
	uint64_t until = socket_until(s, 0, s->receive_us);
	long error;
	int n;

	if (s->state != STREAM_LISTENS)
		return s->stream ? -EINVAL : -ENOTSUP;
	error = socket_begin(s);
	if (error)
		return (int)error;
	while (!error && s->queue_head == s->queue_tail)
		error = socket_wait(s, until);
	socket_end(s);
	if (error)
		return (int)error;
	n = s->queue[ring_slot(s->queue_tail++, SOMAXCONN)];
	accepted = socket_at((unsigned int)n);
	accepted->queued = false;
	accepted->job = job;
	*from = accepted->there;
	nic_poke();		/* lwIP may let another one wait */
	return n;
}

void socket_reject(int socket, int accepted)
{
	struct socket *s = socket_at((unsigned int)socket);
	struct socket *back = socket_at((unsigned int)accepted);

	back->queued = true;
	back->job = s->job;
	s->queue[ring_slot(--s->queue_tail, SOMAXCONN)] = (uint8_t)accepted;
}

int socket_shutdown(int socket, int how)
{
	struct socket *s = socket_at((unsigned int)socket);

	if (!s->stream)
		return -ENOTSUP;
	if (how < SHUT_RD || how > SHUT_RDWR)
		return -EINVAL;
	if (s->state != STREAM_OPEN)
		return -ENOTCONN;
	if (how != SHUT_WR) {
		s->shut_in = true;
		s->tail = s->head;
	}
	if (how != SHUT_RD)
		s->shut_out = true;
	socket_changed();
	nic_poke();
	return 0;
}

int stream_ready(const struct socket *s)
{
	int bits = held(s) || s->ended || s->shut_in || s->error ? POLLIN : 0;

	if (s->error)
		bits |= POLLERR;
	switch (s->state) {
	case STREAM_LISTENS:
		return s->queue_head == s->queue_tail ? 0 : POLLIN;
	case STREAM_CONNECTING:
		return 0;
	case STREAM_OPEN:
		if (s->ended && s->shut_out)
			bits |= POLLHUP;
		return room(s) || s->shut_out ? bits | POLLOUT : bits;
	case STREAM_GONE:
		bits |= POLLIN;
		break;
	case STREAM_NEW:
		break;
	}
	return bits | POLLHUP | POLLOUT;
}
