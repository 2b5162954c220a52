/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of sockets, and the work that the thread `net` does for their calls. Each socket has at
 * most one request at a time. The thread fills the rings of received data, and the calls empty
 * them; the ring of a stream's bytes to send is the other way round. So each end of a ring changes
 * in one place only. The thread has interrupts on, and calls have them off: a call finds what the
 * thread has stored so far.
 */
#ifndef QUEST_NET_TABLE_H
#define QUEST_NET_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <inmate/ring.h>
#include "../user/include/quest/socket_types.h"
#include "../user/include/quest/types.h"
#include "socket.h"

#define SOCKET_QUEUE	8		/* datagrams that wait for the program: a power of two */
/* bytes of a stream that wait for the program, and for lwIP: more than lwIP's window */
#define SOCKET_BYTES	16384
#define SOCKET_TOLD	4096		/* bytes taken after which lwIP hears of it */

enum socket_request {
	REQUEST_NONE, REQUEST_BIND, REQUEST_SEND, REQUEST_CONNECT, REQUEST_LISTEN, REQUEST_DONE
};

enum stream_state { STREAM_NEW, STREAM_LISTENS, STREAM_CONNECTING, STREAM_OPEN, STREAM_GONE };

struct datagram {
	struct quest_address address;
	uint32_t length;
	uint8_t data[QUEST_DATAGRAM];
};

union socket_memory {
	struct { struct datagram received[SOCKET_QUEUE], sent; };
	struct { uint8_t in[SOCKET_BYTES], out[SOCKET_BYTES]; };
};

struct socket {
	bool used;			/* until the thread `net` frees it */
	bool stream;
	int job;			/* that it counts for, while it has descriptors */
	union socket_memory *memory;
	void *pcb;			/* of lwIP; NULL: none */
	unsigned int opens;		/* number of open descriptors; 0: to be freed */
	unsigned int calls;		/* number of calls in progress */
	uint32_t head, tail;		/* numbers of datagrams, or bytes, received and taken */
	enum socket_request request;
	bool given_up;			/* the call does not wait for the answer */
	struct quest_address address;	/* of the request */
	long answer;
	struct quest_address here, there;	/* the ends' addresses; port 0: none */
	bool nonblocking, reuse, keep_alive, no_delay;
	uint64_t receive_us, send_us;	/* largest time that a call waits; 0: no limit */
	/* of the connection, not reported yet: a number of errors.h; 0: none */
	int error;

	/* streams */
	enum stream_state state;
	uint32_t out_head, out_tail;	/* numbers of bytes to send, and of those that lwIP has */
	uint32_t told;			/* `tail` when lwIP heard of it last */
	bool ended;			/* the other end sends nothing more */
	bool shut_in, shut_out;		/* by shutdown() */
	bool fin;			/* lwIP has the end of the bytes to send */
	uint64_t closed_at;		/* TSC at which the last descriptor was closed */
	/* STREAM_LISTENS: the sockets that wait for accept() */
	uint8_t queue[SOMAXCONN];
	uint32_t queue_head, queue_tail, backlog;
	bool queued;			/* it is in such a queue, which is its descriptor */
};

/* Socket `n` of SOCKETS_MAX. */
struct socket *socket_at(unsigned int n);

/*
 * For the calls. socket_begin() begins one: 0, or -EAGAIN. socket_wait() waits until something has
 * changed, until TSC `until` at most (0: does not wait): 0, or why the call must end.
 * socket_await_turn() waits until this call may make a request. socket_ask() makes it, and waits
 * for its answer. socket_until() returns until when the call may wait.
 */
int socket_begin(struct socket *s);
void socket_end(struct socket *s);
long socket_wait(const struct socket *s, uint64_t until);
long socket_await_turn(const struct socket *s);
long socket_ask(struct socket *s, enum socket_request request, const struct quest_address *address);
uint64_t socket_until(const struct socket *s, uint64_t flags, uint64_t us);

/* The turn, the request and the answer in one call, which they begin and end. */
int socket_request(struct socket *s, enum socket_request what, const struct quest_address *address);

/* Returns the pending error as a result, and forgets it. */
long socket_take_error(struct socket *s);

/* datagram.c and stream.c */
long datagram_send(struct socket *s, const struct space *space, const struct quest_datagram *d);
long datagram_receive(struct socket *s, const struct space *space, struct quest_datagram *d);
long stream_send(struct socket *s, const struct space *space, const struct quest_datagram *d);
long stream_receive(struct socket *s, const struct space *space, struct quest_datagram *d);
long stream_connect(struct socket *s, const struct quest_address *to);
int stream_ready(const struct socket *s);

/*
 * sockets_init() takes memory for all sockets, at boot; false: there is not enough. The others are
 * for the thread `net`, with interrupts on. Calls of socket() wait for sockets_begin(), which says
 * whether there is a network. socket_changed() wakes the calls; socket_answer() ends the request;
 * socket_free() frees a socket without descriptors and calls. socket_queue() makes a socket in the
 * queue of `listener`, which socket_queued() lets accept() find; NULL: there is no room.
 */
bool sockets_init(void);
void sockets_begin(bool there);
void socket_changed(void);
void socket_answer(struct socket *s, long answer);
void socket_free(struct socket *s);
struct socket *socket_queue(const struct socket *listener);
void socket_queued(struct socket *listener, struct socket *s);

#endif
