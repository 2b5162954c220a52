// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include "raw.h"

#define US_PER_S	1000000l
#define S_MAX		(1l << 22)	/* 48 days */

/* The options of POSIX, by enum quest_option */
static const struct {
	int level, name;
} options[] = {
	[QUEST_RECEIVE_US] = { SOL_SOCKET, SO_RCVTIMEO },
	[QUEST_SEND_US] = { SOL_SOCKET, SO_SNDTIMEO },
	[QUEST_REUSE] = { SOL_SOCKET, SO_REUSEADDR },
	[QUEST_KEEP_ALIVE] = { SOL_SOCKET, SO_KEEPALIVE },
	[QUEST_NO_DELAY] = { IPPROTO_TCP, TCP_NODELAY },
	[QUEST_ERROR] = { SOL_SOCKET, SO_ERROR },
	[QUEST_TYPE] = { SOL_SOCKET, SO_TYPE },
	[QUEST_LISTENS] = { SOL_SOCKET, SO_ACCEPTCONN },
};

static int find(int level, int name)
{
	int i;

	for (i = 0; i < (int)(sizeof(options) / sizeof(options[0])); i++)
		if (options[i].level == level && options[i].name == name)
			return i;
	return -ENOPROTOOPT;
}

static int is_time(int option)
{
	return option == QUEST_RECEIVE_US || option == QUEST_SEND_US;
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
	int found = find(level, option), number;
	struct timeval t;

	if (found < 0)
		return (int)posix_answer(found);
	if (length < (is_time(found) ? sizeof(t) : sizeof(number)))
		return (int)posix_answer(-EINVAL);
	if (!is_time(found)) {
		(void)memcpy(&number, value, sizeof(number));
		return (int)posix_answer(quest_socket_set(fd, found, number));
	}
	(void)memcpy(&t, value, sizeof(t));
	if (t.tv_sec < 0 || t.tv_sec > S_MAX || t.tv_usec < 0 || t.tv_usec >= US_PER_S)
		return (int)posix_answer(-EDOM);
	return (int)posix_answer(quest_socket_set(fd, found, t.tv_sec * US_PER_S + t.tv_usec));
}

int getsockopt(int fd, int level, int option, void *value, socklen_t *length)
{
	int found = find(level, option), number;
	long answer = found < 0 ? found : quest_socket_get(fd, found);
	struct timeval t = { answer / US_PER_S, answer % US_PER_S };
	const void *from = &t;
	socklen_t size = sizeof(t);

	if (answer < 0)
		return (int)posix_answer(answer);
	if (!is_time(found)) {
		number = (int)answer;
		from = &number;
		size = sizeof(number);
	}
	if (*length > size)
		*length = size;
	(void)memcpy(value, from, *length);
	return 0;
}
