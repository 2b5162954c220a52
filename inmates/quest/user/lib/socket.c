// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <arpa/inet.h>
#include <string.h>
#include "raw.h"

int socket(int domain, int type, int protocol)
{
	if (domain != AF_INET || (protocol && protocol != (type == SOCK_STREAM ? IPPROTO_TCP :
							   IPPROTO_UDP)))
		return (int)posix_answer(-ENOTSUP);
	return (int)posix_answer(quest_socket(type));
}

/* Returns 0 if `from` is no address of IPv4. */
static int read_address(struct quest_address *to, const struct sockaddr *from, socklen_t length)
{
	struct sockaddr_in in;

	if (!from || length < sizeof(in))
		return 0;
	(void)memcpy(&in, from, sizeof(in));
	*to = (struct quest_address){ .ip = in.sin_addr.s_addr, .port = ntohs(in.sin_port) };
	return in.sin_family == AF_INET;
}

static void write_address(struct sockaddr *to, socklen_t *length, const struct quest_address *from)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons((uint16_t)from->port),
				  .sin_addr.s_addr = from->ip };

	if (!to || !length)
		return;
	(void)memcpy(to, &in, *length < sizeof(in) ? *length : sizeof(in));
	*length = sizeof(in);
}

int bind(int fd, const struct sockaddr *to, socklen_t length)
{
	struct quest_address address;

	return (int)posix_answer(read_address(&address, to, length) ?
				 quest_socket_bind(fd, &address) : -EINVAL);
}

int connect(int fd, const struct sockaddr *to, socklen_t length)
{
	struct quest_address address;

	return (int)posix_answer(read_address(&address, to, length) && address.port ?
				 quest_socket_connect(fd, &address) : -EINVAL);
}

int listen(int fd, int most)
{
	return (int)posix_answer(quest_socket_listen(fd, most));
}

int accept(int fd, struct sockaddr *from, socklen_t *length)
{
	struct quest_address address;
	int answer = quest_socket_accept(fd, &address);

	if (answer >= 0)
		write_address(from, length, &address);
	return (int)posix_answer(answer);
}

int shutdown(int fd, int how)
{
	return (int)posix_answer(quest_socket_shutdown(fd, how));
}

ssize_t sendto(int fd, const void *data, size_t n, int flags, const struct sockaddr *to,
	       socklen_t length)
{
	struct quest_datagram d = { .data = (uintptr_t)data, .length = n,
				    .flags = (unsigned int)(flags & ~MSG_NOSIGNAL) };

	if (to && (!read_address(&d.address, to, length) || !d.address.port))
		return posix_answer(-EINVAL);
	return posix_answer(quest_socket_send(fd, &d));
}

ssize_t send(int fd, const void *data, size_t n, int flags)
{
	return sendto(fd, data, n, flags, NULL, 0);
}

ssize_t recvfrom(int fd, void *data, size_t n, int flags, struct sockaddr *from,
		 socklen_t *length)
{
	struct quest_datagram d = { .data = (uintptr_t)data, .length = n,
				    .flags = (unsigned int)flags };
	long answer = quest_socket_receive(fd, &d);

	if (answer >= 0)
		write_address(from, length, &d.address);
	return posix_answer(answer);
}

ssize_t recv(int fd, void *data, size_t n, int flags)
{
	return recvfrom(fd, data, n, flags, NULL, NULL);
}

static int name_of(int fd, int peer, struct sockaddr *name, socklen_t *length)
{
	struct quest_address address;
	int answer = quest_socket_name(fd, peer, &address);

	if (!answer)
		write_address(name, length, &address);
	return (int)posix_answer(answer);
}

int getsockname(int fd, struct sockaddr *name, socklen_t *length)
{
	return name_of(fd, 0, name, length);
}

int getpeername(int fd, struct sockaddr *name, socklen_t *length)
{
	return name_of(fd, 1, name, length);
}
