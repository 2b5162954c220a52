// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <arpa/inet.h>
#include <string.h>
#include "raw.h"

int socket(int domain, int type, int protocol)
{
	if (domain != AF_INET || type != SOCK_DGRAM || (protocol && protocol != IPPROTO_UDP))
		return (int)posix_answer(-ENOTSUP);
	return (int)posix_answer(quest_socket());
}

/* Returns false if `from` is no address of IPv4. */
static int read_address(struct quest_address *to, const struct sockaddr *from, socklen_t length)
{
	struct sockaddr_in in;

	if (!from || length < sizeof(in))
		return 0;
	(void)memcpy(&in, from, sizeof(in));
	*to = (struct quest_address){ .ip = in.sin_addr.s_addr, .port = ntohs(in.sin_port) };
	return in.sin_family == AF_INET;
}

int bind(int fd, const struct sockaddr *to, socklen_t length)
{
	struct quest_address address;

	return (int)posix_answer(read_address(&address, to, length) ?
				 quest_socket_bind(fd, &address) : -EINVAL);
}

ssize_t sendto(int fd, const void *data, size_t n, int flags, const struct sockaddr *to,
	       socklen_t length)
{
	struct quest_datagram d = { .data = (uintptr_t)data, .length = n };

	if (flags)
		return posix_answer(-ENOTSUP);
	return posix_answer(read_address(&d.address, to, length) ? quest_socket_send(fd, &d) :
			    -EINVAL);
}

ssize_t recvfrom(int fd, void *data, size_t n, int flags, struct sockaddr *from,
		 socklen_t *length)
{
	struct quest_datagram d = { .data = (uintptr_t)data, .length = n };
	struct sockaddr_in in = { .sin_family = AF_INET };
	long answer = flags ? -ENOTSUP : quest_socket_receive(fd, &d);

	if (answer >= 0 && from && length) {
		in.sin_addr.s_addr = d.address.ip;
		in.sin_port = htons((uint16_t)d.address.port);
		(void)memcpy(from, &in, *length < sizeof(in) ? *length : sizeof(in));
		*length = sizeof(in);
	}
	return posix_answer(answer);
}
