// SPDX-License-Identifier: GPL-2.0-only
/* Calls that neither wait nor need lwIP at once. */
#include "../drivers/net/nic.h"
#include "../user/include/quest/errors.h"
#include "table.h"

#define US_MAX	(1ll << 42)		/* 50 days */

int socket_name(int socket, bool peer, struct quest_address *name)
{
	const struct socket *s = socket_at((unsigned int)socket);

	if (peer && !s->there.port)
		return -ENOTCONN;
	*name = peer ? s->there : s->here;
	return 0;
}

/* Returns where an option of value 0 or 1 is, or NULL. */
static bool *flag(struct socket *s, int option)
{
	switch (option) {
	case QUEST_REUSE: return &s->reuse;
	case QUEST_KEEP_ALIVE: return &s->keep_alive;
	case QUEST_NO_DELAY: return s->stream ? &s->no_delay : NULL;
	default: return NULL;
	}
}

static uint64_t *limit(struct socket *s, int option)
{
	return option == QUEST_RECEIVE_US ? &s->receive_us :
	       option == QUEST_SEND_US ? &s->send_us : NULL;
}

int socket_set(int socket, int option, int64_t value)
{
	struct socket *s = socket_at((unsigned int)socket);

	if (limit(s, option)) {
		if (value < 0 || value > US_MAX)
			return -EINVAL;
		*limit(s, option) = (uint64_t)value;
		return 0;
	}
	if (!flag(s, option))
		return -ENOPROTOOPT;
	*flag(s, option) = value;
	nic_poke();
	return 0;
}

long socket_get(int socket, int option)
{
	struct socket *s = socket_at((unsigned int)socket);

	if (limit(s, option))
		return (long)*limit(s, option);
	if (flag(s, option))
		return *flag(s, option);
	switch (option) {
	case QUEST_ERROR: return -socket_take_error(s);
	case QUEST_TYPE: return s->stream ? SOCK_STREAM : SOCK_DGRAM;
	case QUEST_LISTENS: return s->state == STREAM_LISTENS;
	default: return -ENOPROTOOPT;
	}
}

void socket_set_blocking(int socket, bool blocking)
{
	socket_at((unsigned int)socket)->nonblocking = !blocking;
}

bool socket_blocking(int socket)
{
	return !socket_at((unsigned int)socket)->nonblocking;
}

int socket_ready(int socket)
{
	const struct socket *s = socket_at((unsigned int)socket);

	if (s->stream)
		return stream_ready(s);
	return (s->head == s->tail ? 0 : POLLIN) | POLLOUT;
}
