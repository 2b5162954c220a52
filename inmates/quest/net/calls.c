// SPDX-License-Identifier: GPL-2.0-only
/* Calls of sockets of any type. */
#include "../user/include/quest/errors.h"
#include "table.h"

static struct socket *at(int socket)
{
	return socket_at((unsigned int)socket);
}

int socket_bind(int socket, const struct quest_address *to)
{
	return socket_request(at(socket), REQUEST_BIND, to);
}

int socket_listen(int socket, int most)
{
	struct socket *s = at(socket);

	if (!s->stream)
		return -ENOTSUP;
	s->backlog = most < 1 ? 1 : most > SOMAXCONN ? SOMAXCONN : (uint32_t)most;
	return socket_request(s, REQUEST_LISTEN, &s->here);
}

int socket_connect(int socket, const struct quest_address *to)
{
	struct socket *s = at(socket);
	long error;

	if (!s->stream)
		return socket_request(s, REQUEST_CONNECT, to);
	error = socket_begin(s);
	if (error)
		return (int)error;
	error = stream_connect(s, to);
	socket_end(s);
	return (int)error;
}

long socket_send(int socket, const struct space *space, const struct quest_datagram *d)
{
	struct socket *s = at(socket);
	long answer = socket_begin(s);

	if (answer)
		return answer;
	answer = s->stream ? stream_send(s, space, d) : datagram_send(s, space, d);
	socket_end(s);
	return answer;
}

long socket_receive(int socket, const struct space *space, struct quest_datagram *d)
{
	struct socket *s = at(socket);
	long answer = socket_begin(s);

	if (answer)
		return answer;
	answer = s->stream ? stream_receive(s, space, d) : datagram_receive(s, space, d);
	socket_end(s);
	return answer;
}
