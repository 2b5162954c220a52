/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Messages with a bound: a thread in one cell calls, a thread in another cell replies, over a
 * channel of type mailbox (Quest-V dissertation, section 4.2). The longest time that a message
 * takes is known before it is sent. Documentation/how-to/messages.md has an example.
 *
 * The channel is half duplex: its `writer` sends, the other end takes and replies. A message goes
 * in slots of the channel's `item` bytes, IPC_HEAD of which are a header, and each slot is answered
 * by a slot. Each end is one thread, which has a Main VCPU for itself: bind it before ipc_open(),
 * and do not change it afterwards. Both ends poll, or sleep until a bell wakes them.
 *
 * These are functions of Quest's own: they return minus the number of an error. They wait without
 * a limit while the other end is not there yet. ESHUTDOWN, EHOSTDOWN: its cell is stopped, has
 * failed. ECONNRESET: its cell or program restarted, and the message is lost; ipc_connect() again.
 * EBADMSG: it wrote what cannot be. EINTR, EBADF.
 */
#ifndef QUEST_IPC_H
#define QUEST_IPC_H

#include <channel.h>
#include <quest.h>

#define IPC_HEAD	16		/* bytes of a slot that are not of the message */
#define IPC_NEVER	UINT64_MAX	/* a time without a bound */
#define IPC_ONE_WAY	((size_t)-1)	/* ipc_bound(): of ipc_send() */
#define IPC_BYTES_MAX	(1u << 30)	/* of a message */
#define IPC_SERVICE_US_MAX	1000000000u	/* of ipc_open() */

/* How an end waits. IPC_SLEEPS needs `bell: true`. */
enum ipc_how { IPC_POLLS, IPC_SLEEPS };

/* The longest time by three rules (Documentation/explanation/quest-scheduling.md), in ns. */
struct ipc_bound {
	uint64_t any_ns;	/* whichever VCPUs the cells admit, now or later */
	uint64_t now_ns;	/* with the VCPUs that both cells had when they connected */
	uint64_t paper_ns;	/* the papers' equations: for VCPUs of the highest priority only */
};

/* An end's terms, which it tells the other when it connects. The other end relies on them. */
struct ipc_terms {
	uint64_t slot_ns;	/* CPU time to take or to send a slot: the longest of some */
	uint64_t wake_ns;	/* w, in the times below; 0 if it polls */
	struct ipc_bound slot;	/* sender: to send or take one; receiver: to take, serve, reply */
	struct ipc_bound take;	/* receiver: to take a slot and serve it */
};

/* An end. Only the library changes it. After ipc_connect() the terms may be read. */
struct ipc {
	struct ipc_terms own, peer;
	uint64_t service_ns, mark;
	size_t body;		/* bytes of a message in a slot */
	int channel, how;
	unsigned int polls;
	bool connected, owes;	/* the receiver owes a reply */
};

/*
 * Opens an end, by the name of the channel. A receiver says which CPU time it uses for a message at
 * most (K; it counts for each slot), besides the copies. Returns 0; the errors of channel_open();
 * EINVAL: IPC_SLEEPS without a bell, or a longer service; EACCES: no mailbox; EMSGSIZE: its slots
 * are below 256 bytes; ENOVCPU: the thread has no Main VCPU of its own.
 */
int ipc_open(struct ipc *end, const char *channel, enum ipc_how how, uint64_t service_us);
int ipc_close(struct ipc *end);

/*
 * The sender: exchanges some whole slots with the receiver, which answers in ipc_receive(). Both
 * measure what a slot costs them, and compute how long their VCPUs take for it. Returns 0.
 */
int ipc_connect(struct ipc *sender);

/*
 * The sender: how long ipc_call() takes at most with a request of `bytes` and a reply of `reply`
 * bytes, or ipc_send() if `reply` is IPC_ONE_WAY. Nothing is sent. Returns 0; ENOTCONN: call
 * ipc_connect() first; EMSGSIZE. IPC_NEVER is stored for a VCPU that does not always get its C.
 */
int ipc_bound(const struct ipc *sender, size_t bytes, size_t reply, struct ipc_bound *bound);

/* Sends a request and takes the reply. Returns its bytes; EMSGSIZE: an end has no room. */
ssize_t ipc_call(struct ipc *sender, const void *request, size_t bytes, void *reply, size_t room);

/* Sends a message, and returns 0 when the receiver has taken it; EMSGSIZE: it has no room. */
int ipc_send(struct ipc *sender, const void *message, size_t bytes);

/*
 * The receiver: takes a message of at most `room` bytes. Returns its bytes; EMSGSIZE: it is longer,
 * and is refused.
 */
ssize_t ipc_receive(struct ipc *receiver, void *message, size_t room);

/*
 * The receiver: replies to the request that it took last. Returns 0; EINVAL: it took none, or the
 * message was sent by ipc_send(); EMSGSIZE: the sender has no room.
 */
int ipc_reply(struct ipc *receiver, const void *reply, size_t bytes);

#endif
