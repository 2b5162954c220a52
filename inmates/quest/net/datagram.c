// SPDX-License-Identifier: GPL-2.0-only
/* Calls of sockets for datagrams. */
#include "../mm/usercopy.h"
#include "../user/include/quest/errors.h"
#include "table.h"

long datagram_send(struct socket *s, const struct space *space, const struct quest_datagram *d)
{
	struct datagram *sent = &s->memory->sent;
	long error;

	if (d->length > QUEST_DATAGRAM)
		return -EMSGSIZE;
	if (!d->address.port && !s->there.port)
		return -EDESTADDRREQ;
	error = socket_await_turn(s);
	if (error)
		return error;
	sent->length = (uint32_t)d->length;
	if (!copy_from_user(space, sent->data, d->data, d->length))
		return -EFAULT;
	error = socket_ask(s, REQUEST_SEND, d->address.port ? &d->address : &s->there);
	return error ? error : (long)d->length;
}

long datagram_receive(struct socket *s, const struct space *space, struct quest_datagram *d)
{
	uint64_t until = socket_until(s, d->flags, s->receive_us), n = d->length;
	const struct datagram *got;
	long error = 0;

	while (!error && s->head == s->tail)
		error = socket_wait(s, until);
	if (error)
		return error;
	got = &s->memory->received[ring_slot(s->tail, SOCKET_QUEUE)];
	if (n > got->length)
		n = got->length;
	if (!copy_to_user(space, d->data, got->data, n))
		return -EFAULT;
	d->address = got->address;
	if (!(d->flags & MSG_PEEK))
		s->tail++;
	return (long)n;
}
