/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sockets over IPv4: streams (TCP) and datagrams (UDP). Comments say where Quest differs from
 * POSIX, and list errors. Each call may also fail with EBADF, ENOTSOCK and EFAULT. A call that
 * waits fails with EAGAIN if twelve others wait in such calls and in poll().
 *
 * No signal comes for a connection that the other end has closed: send() and write() fail with
 * EPIPE, as with MSG_NOSIGNAL. Programs have no signal handlers.
 */
#ifndef QUEST_SYS_SOCKET_H
#define QUEST_SYS_SOCKET_H

#include <stddef.h>
#include <stdint.h>
#include <quest/posix_types.h>
#include <quest/socket_types.h>

#define AF_INET		2
#define PF_INET		AF_INET
#define SOL_SOCKET	1

/* Options of SOL_SOCKET. netinet/tcp.h has that of IPPROTO_TCP. */
#define SO_REUSEADDR	2
#define SO_TYPE		3		/* only read, like the other two */
#define SO_ERROR	4
#define SO_KEEPALIVE	9
#define SO_RCVTIMEO	20		/* struct timeval; 0: no limit */
#define SO_SNDTIMEO	21
#define SO_ACCEPTCONN	30

typedef uint16_t sa_family_t;
typedef uint32_t socklen_t;

struct sockaddr {
	sa_family_t sa_family;
	char sa_data[14];
};

struct sockaddr_storage {
	sa_family_t ss_family;
	char ss_data[30];
};

/*
 * Returns a descriptor. A program with its children, and the others of its line of the shell, has
 * at most 16 sockets, with those that wait for accept(), and all programs have 32. ENOTSUP: no such
 * type; ENETDOWN, EMFILE
 */
int socket(int domain, int type, int protocol);

/* EINVAL, EADDRINUSE, EADDRNOTAVAIL */
int bind(int fd, const struct sockaddr *to, socklen_t length);

/*
 * Connects a stream, or names the other end of datagrams. EINVAL, EISCONN, EALREADY, EINPROGRESS,
 * ECONNREFUSED, ETIMEDOUT, EHOSTUNREACH, ENOMEM
 */
int connect(int fd, const struct sockaddr *to, socklen_t length);

/* At most SOMAXCONN connections wait. EINVAL, ENOTSUP, EADDRINUSE */
int listen(int fd, int most);

/* `from` may be NULL. EINVAL: listen() first; EAGAIN, EMFILE, ENOTSUP */
int accept(int fd, struct sockaddr *from, socklen_t *length);

/* EINVAL, ENOTCONN, ENOTSUP */
int shutdown(int fd, int how);

/*
 * They send and receive bytes of a stream, or one datagram of at most 1472 bytes. Flags: MSG_PEEK
 * (for a stream, at most 1024 bytes), MSG_DONTWAIT, MSG_NOSIGNAL. A stream's recv() returns 0 when
 * the other end sends nothing more. recvfrom() drops the rest of a datagram that does not fit; its
 * `from` may be NULL. read() and write() do the same without flags. EAGAIN, EINVAL, EMSGSIZE,
 * EDESTADDRREQ, EHOSTUNREACH, ENOMEM, ENOTSUP (flags); of streams ENOTCONN, EPIPE, ECONNRESET,
 * ETIMEDOUT
 */
ssize_t send(int fd, const void *data, size_t n, int flags);
ssize_t recv(int fd, void *data, size_t n, int flags);
ssize_t sendto(int fd, const void *data, size_t n, int flags, const struct sockaddr *to,
	       socklen_t length);
ssize_t recvfrom(int fd, void *data, size_t n, int flags, struct sockaddr *from,
		 socklen_t *length);

/* The addresses of this end and of the other one; ENOTCONN */
int getsockname(int fd, struct sockaddr *name, socklen_t *length);
int getpeername(int fd, struct sockaddr *name, socklen_t *length);

/* EINVAL, ENOPROTOOPT */
int setsockopt(int fd, int level, int option, const void *value, socklen_t length);
int getsockopt(int fd, int level, int option, void *value, socklen_t *length);

#endif
