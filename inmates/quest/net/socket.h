/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sockets of programs for datagrams (UDP), by number. Interrupts are off in every call. The calls
 * hand their work to the thread `net`, in which lwIP runs (udp.c), and wait for it.
 */
#ifndef QUEST_SOCKET_H
#define QUEST_SOCKET_H

#include <stdint.h>
#include "../kernel/waitqueue.h"
#include "../mm/space.h"

#define SOCKETS_MAX	8		/* largest number of sockets of all programs */
/* number of calls that may wait at once: all threads in them wake when a packet comes */
#define SOCKET_CALLS	12

struct quest_address;

/*
 * Creates a socket with one open descriptor. Returns its number, or minus an error (errors.h):
 * ENETDOWN, EMFILE.
 */
int socket_create(void);

/* Increment or decrement the number of open descriptors. The last one closes the socket. */
void socket_open(int socket);
void socket_close(int socket);

/*
 * The calls below return minus an error if they have done nothing. EAGAIN: SOCKET_CALLS others
 * wait. They also return the errors of process_interrupted(), and EBADF if the socket is closed
 * meanwhile.
 *
 * socket_bind() gives the socket an address of this cell, 0: any, and a port, 0: any free one.
 * EADDRINUSE, EINVAL
 */
int socket_bind(int socket, const struct quest_address *to);

/* Sends `n` bytes. Returns `n`. EMSGSIZE, EFAULT, ENOMEM, EHOSTUNREACH */
long socket_send(int socket, const struct space *s, uint64_t data, uint64_t n,
		 const struct quest_address *to);

/*
 * Waits for a datagram. Copies its first `n` bytes, if it has so many, and drops the rest. Returns
 * the number of bytes copied, and from where it came. EFAULT
 */
long socket_receive(int socket, const struct space *s, uint64_t data, uint64_t n,
		    struct quest_address *from);

/* The threads that wait in these calls. */
const struct wait_queue *socket_waiters(void);

#endif
