/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of sockets, and the work that the thread `net` does for their calls. Each socket has at
 * most one request at a time. The thread fills the ring of received datagrams, and the calls empty
 * it: one end each.
 */
#ifndef QUEST_NET_TABLE_H
#define QUEST_NET_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include "../user/include/quest/types.h"
#include "socket.h"

#define SOCKET_QUEUE	8		/* datagrams that wait for the program: a power of two */

enum socket_request { REQUEST_NONE, REQUEST_BIND, REQUEST_SEND, REQUEST_DONE };

struct datagram {
	struct quest_address address;
	uint32_t length;
	uint8_t data[QUEST_DATAGRAM];
};

struct socket_memory {
	struct datagram received[SOCKET_QUEUE], sent;
};

struct socket {
	bool used;			/* until the thread `net` frees it */
	struct socket_memory *memory;
	void *pcb;			/* of lwIP; NULL: none yet */
	unsigned int opens;		/* number of open descriptors; 0: to be freed */
	unsigned int calls;		/* number of calls in progress */
	uint32_t head, tail;		/* numbers of datagrams received and taken */
	enum socket_request request;
	bool given_up;			/* the call does not wait for the answer */
	struct quest_address address;	/* of the request */
	long answer;
};

/* Socket `n` of SOCKETS_MAX. */
struct socket *socket_at(unsigned int n);

/*
 * sockets_init() takes memory for all sockets, at boot; false: there is not enough. The others are
 * for the thread `net`, with interrupts on. From sockets_begin() on there is a network.
 * socket_received() says that a datagram was added; socket_answer() ends the request;
 * socket_free() frees a socket without descriptors and calls.
 */
bool sockets_init(void);
void sockets_begin(void);
void socket_received(struct socket *s);
void socket_answer(struct socket *s, long answer);
void socket_free(struct socket *s);

#endif
