// SPDX-License-Identifier: GPL-2.0-only
#include "end.h"
#include "serve.h"
#include "table.h"

static bool requested(const struct socket *s)
{
	return s->request != REQUEST_NONE && s->request != REQUEST_DONE;
}

static void serve(struct socket *s)
{
	if (requested(s))
		socket_answer(s, s->stream ? tcp_request(s) : udp_request(s));
	if (s->stream)
		tcp_serve(s);
	if (s->opens || s->calls)
		return;
	if (!s->stream)
		udp_end(s);
	else if (!tcp_end(s))
		return;
	socket_free(s);
}

void serve_sockets(void)
{
	unsigned int n;

	for (n = 0; n < SOCKETS_MAX; n++)
		if (socket_at(n)->used)
			serve(socket_at(n));
	tcp_trim();
}
