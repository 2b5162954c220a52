/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sockets of programs by number: datagrams (UDP) and streams (TCP). Interrupts are off in every
 * call. The calls hand their work to the thread `net`, in which lwIP runs (serve.c), and wait for
 * it.
 */
#ifndef QUEST_SOCKET_H
#define QUEST_SOCKET_H

#include <stdbool.h>
#include <stdint.h>
#include "../kernel/waitqueue.h"
#include "../mm/space.h"

#define SOCKETS_MAX	32		/* largest number of sockets of all programs */
/*
 * and of one job, which is a program with its children, and the others of its line of the shell:
 * fork() gives a program no further ones. Those that await accept() count, too: all descriptors but
 * 0 to 2 of one program, and a full queue
 */
#define SOCKETS_OF_ONE	16
/* number of calls that may wait at once: all threads in them wake when a packet comes */
#define SOCKET_CALLS		12
#define SOCKET_CALLS_OF_ONE	8	/* and of one job */

struct quest_address;
struct quest_datagram;

/*
 * Creates a socket of type SOCK_STREAM or SOCK_DGRAM with one open descriptor, for job `job`.
 * Returns its number, or minus an error (errors.h): ENOTSUP, ENETDOWN, EMFILE.
 */
int socket_create(int type, int job);

/* Increment or decrement the number of open descriptors. The last one closes the socket. */
void socket_open(int socket);
void socket_close(int socket);

/*
 * The calls below return minus an error if they have done nothing. EAGAIN: the call would wait but
 * may not, or its time is over, or SOCKET_CALLS others wait, or SOCKET_CALLS_OF_ONE of the job.
 * They also return the errors of process_interrupted(), and EBADF if the socket is closed
 * meanwhile.
 *
 * socket_bind() gives the socket an address of this cell, 0: any, and a port, 0: any free one.
 * EADDRINUSE, EADDRNOTAVAIL, EINVAL
 */
int socket_bind(int socket, const struct quest_address *to);

/*
 * Connects a stream, and waits for that; names the other end of datagrams. EISCONN, EALREADY,
 * EINPROGRESS, ECONNREFUSED, ETIMEDOUT, EHOSTUNREACH, ENOMEM, EADDRINUSE, EINVAL
 */
int socket_connect(int socket, const struct quest_address *to);

/* Lets a stream accept connections, of which `most` may wait. EADDRINUSE, EINVAL, ENOTSUP */
int socket_listen(int socket, int most);

/*
 * Waits for a connection. Returns the number of its socket, which has one open descriptor, of
 * job `job`. socket_reject() puts that back. EINVAL: does not listen
 */
int socket_accept(int socket, int job, struct quest_address *from);
void socket_reject(int socket, int accepted);

/* Ends receiving, sending or both (SHUT_RD ...) of a stream. ENOTCONN, EINVAL, ENOTSUP */
int socket_shutdown(int socket, int how);

/*
 * Sends d->length bytes, or as many as fit if the call may not wait. Returns how many. EMSGSIZE,
 * EFAULT, ENOMEM, EHOSTUNREACH, EDESTADDRREQ; ENOTCONN, EPIPE, ECONNRESET, ETIMEDOUT
 */
long socket_send(int socket, const struct space *s, const struct quest_datagram *d);

/*
 * Waits for a datagram, or for bytes of a stream. Copies at most d->length bytes, and drops the
 * rest of the datagram. Returns the number of bytes copied, and from where they came; 0: the stream
 * has ended. EFAULT; ENOTCONN, ECONNRESET, ETIMEDOUT
 */
long socket_receive(int socket, const struct space *s, struct quest_datagram *d);

/* Returns the socket's address (`peer` false), or that of the other end. ENOTCONN */
int socket_name(int socket, bool peer, struct quest_address *name);

/* Change and read an option (enum quest_option). ENOPROTOOPT, EINVAL */
int socket_set(int socket, int option, int64_t value);
long socket_get(int socket, int option);

/* Change and read O_NONBLOCK. */
void socket_set_blocking(int socket, bool blocking);
bool socket_blocking(int socket);

/* Returns the bits of poll() that are so. */
int socket_ready(int socket);

/*
 * For a poll() that waits for sockets, too: socket_begin_wait() counts it among the calls. Returns
 * 0, or -EAGAIN.
 */
int socket_begin_wait(void);
void socket_end_wait(void);

/* Returns how many sockets there are, with those that are being closed. */
unsigned int sockets_used(void);

/* The threads that wait in these calls. */
const struct wait_queue *socket_waiters(void);

#endif
