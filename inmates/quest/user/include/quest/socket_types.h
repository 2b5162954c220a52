/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The numbers of POSIX for sockets and for poll() that Quest has. sys/socket.h, poll.h and fcntl.h
 * include this file, and so does the kernel.
 */
#ifndef QUEST_SOCKET_TYPES_H
#define QUEST_SOCKET_TYPES_H

#define SOCK_STREAM	1		/* TCP */
#define SOCK_DGRAM	2		/* UDP */

#define SHUT_RD		0
#define SHUT_WR		1
#define SHUT_RDWR	2

#define MSG_PEEK	0x0002		/* the data stays in the socket */
#define MSG_DONTWAIT	0x0040
#define MSG_NOSIGNAL	0x4000		/* as always in Quest */

#define SOMAXCONN	8		/* largest number of connections that wait for accept() */

#define F_GETFL		3
#define F_SETFL		4
#define O_NONBLOCK	0x800

#define POLLIN		0x0001
#define POLLPRI		0x0002		/* never reported */
#define POLLOUT		0x0004
#define POLLERR		0x0008		/* these three are reported whether asked for or not */
#define POLLHUP		0x0010
#define POLLNVAL	0x0020
#define POLLRDNORM	0x0040
#define POLLWRNORM	0x0100

struct pollfd {
	int fd;				/* negative: not looked at */
	short events;			/* the bits to wait for */
	short revents;			/* the bits that are so */
};

#endif
