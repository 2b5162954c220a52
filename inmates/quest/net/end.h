/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ends of sockets in lwIP, for the thread `net`: udp.c, tcp.c. common.c has what both need.
 */
#ifndef QUEST_NET_END_H
#define QUEST_NET_END_H

#include <stdbool.h>
#include <stdint.h>

struct socket;

/*
 * Carry out the request of a socket, and return its answer. tcp_serve() moves bytes. The last ones
 * end the socket; false: not yet.
 */
long udp_request(struct socket *s);
void udp_end(struct socket *s);
long tcp_request(struct socket *s);
void tcp_serve(struct socket *s);
bool tcp_end(struct socket *s);

/*
 * Drops connections that no socket has, if there are many, and closed sockets of a job that keep
 * bytes. Those of the job that has most go first, so that a job cannot drop those of others.
 */
void tcp_trim(void);

/* Numbers of connections that no socket has: those being closed, and those in TIME_WAIT. */
unsigned int tcp_closing(void);
unsigned int tcp_waiting(void);

/* Returns an error of lwIP (err_t) as a result of a call. */
long end_error(int error);

/* Returns whether a socket can have the address: the interface has it, or it is 0. */
bool end_has(uint32_t ip);

#endif
