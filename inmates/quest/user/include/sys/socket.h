/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sockets for datagrams (UDP over IPv4). Each holds 8 received datagrams, and loses others. */
#ifndef QUEST_SYS_SOCKET_H
#define QUEST_SYS_SOCKET_H

#include <stddef.h>
#include <stdint.h>
#include <quest/posix_types.h>

#define AF_INET		2
#define PF_INET		AF_INET
#define SOCK_DGRAM	2

typedef uint16_t sa_family_t;
typedef uint32_t socklen_t;

struct sockaddr {
	sa_family_t sa_family;
	char sa_data[14];
};

/* Returns a descriptor. ENOTSUP: no such type; ENETDOWN, EMFILE */
int socket(int domain, int type, int protocol);

/* EBADF, EINVAL, EFAULT, EADDRINUSE */
int bind(int fd, const struct sockaddr *to, socklen_t length);

/*
 * Send or wait for one datagram. `flags` is 0. They return the number of bytes. EBADF, EINVAL,
 * EFAULT, EMSGSIZE (above 1472 bytes), EHOSTUNREACH, ENOMEM, EAGAIN (too many threads wait),
 * ENOTSUP (flags). recvfrom() drops what does not fit. `from` may be NULL.
 */
ssize_t sendto(int fd, const void *data, size_t n, int flags, const struct sockaddr *to,
	       socklen_t length);
ssize_t recvfrom(int fd, void *data, size_t n, int flags, struct sockaddr *from,
		 socklen_t *length);

#endif
