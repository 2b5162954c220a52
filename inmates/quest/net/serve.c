// SPDX-License-Identifier: GPL-2.0-only
#include "end.h"
#include "serve.h"
#include "table.h"

static bool requested(const struct socket *s)
{
	return s->request != REQUEST_NONE && s->request != REQUEST_DONE;
}

static void end(struct socket *s)
{
	if (s->opens || s->calls)
		return;
	if (!s->stream)
		udp_end(s);
	else if (!tcp_end(s))
		return;
	socket_free(s);
}

static void end_closed(void)
{
	unsigned int n;

	for (n = 0; n < SOCKETS_MAX; n++)
		if (socket_at(n)->used)
			end(socket_at(n));
}

/*
 * Sockets that were closed before a request end before its answer: a program that is started again
 * gets the ports of its last start. That may free the socket itself.
 */
static void answer(struct socket *s)
{
	end_closed();
	if (s->used && requested(s))
		socket_answer(s, s->stream ? tcp_request(s) : udp_request(s));
}

static void serve(struct socket *s)
{
	if (requested(s))
		answer(s);
	if (s->used && s->stream)
		tcp_serve(s);
}

void serve_sockets(void)
{
	unsigned int n;

	for (n = 0; n < SOCKETS_MAX; n++)
		if (socket_at(n)->used)
			serve(socket_at(n));
	end_closed();
	tcp_trim();
}
