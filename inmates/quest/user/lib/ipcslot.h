/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Slots of messages (ipc.h). The mailbox alternates strictly, and its slots have the flags at start
 * and end (qv/channel.h), so an end never sees a part of a slot, nor a slot twice. All functions
 * return 0 or minus an error.
 */
#ifndef QUEST_LIB_IPCSLOT_H
#define QUEST_LIB_IPCSLOT_H

#include <ipc.h>

/* Of a slot. The sender's kinds are those up to NEXT. */
enum ipcslot_kind {
	IPCSLOT_HELLO = 1,	/* ipc_connect(): a whole slot, with the sender's terms */
	IPCSLOT_CALL,		/* a part of a request */
	IPCSLOT_SEND,		/* a part of a message that gets no reply */
	IPCSLOT_NEXT,		/* asks for the next part of the reply */
	IPCSLOT_TERMS,		/* the answer to HELLO, with the receiver's terms */
	IPCSLOT_TAKEN,
	IPCSLOT_REPLY,		/* a part of the reply */
	/* `total` bytes are too many; 0: the receiver lacks the beginning */
	IPCSLOT_REFUSED,
};

/* At the beginning of a slot: its kind, the bytes of the message, and where its part begins */
struct ipcslot_head {
	uint32_t kind, total, at, reserved;
};

/* A slot of the other end, which stays in the channel until it is taken or released */
struct ipcslot {
	struct ipcslot_head head;
	const unsigned char *body;
	size_t bytes;
};

/* Sends a slot with `bytes` of a message. Waits for this end's turn. */
int ipcslot_put(struct ipc *end, const struct ipcslot_head *head, const void *body, size_t bytes);

/* Awaits a slot of the other end. One without a head has kind 0. */
int ipcslot_look(struct ipc *end, struct ipcslot *slot);

/*
 * The receiver: returns whether an earlier program of this end has taken a slot, and ended before
 * it answered: the sender still waits.
 */
bool ipcslot_owed(struct ipc *receiver);

/*
 * Releases the slot that was looked at; take() copies its part of the message before, and wrong()
 * returns -EBADMSG then.
 */
int ipcslot_release(struct ipc *end);
int ipcslot_wrong(struct ipc *end);
int ipcslot_take(struct ipc *end, const struct ipcslot *slot, void *to);

/* Returns whether the slot continues a message of which `at` bytes are there. */
bool ipcslot_continues(const struct ipcslot *slot, size_t at);

/*
 * Refuses the message of a slot that was released: it has `total` bytes, which are too many; 0: it
 * is lost, and the sender gets ECONNRESET.
 */
int ipcslot_refuse(struct ipc *receiver, uint32_t total);

/* Answers a slot of ipc_connect() that the receiver has looked at. */
int ipcterms_answer(struct ipc *receiver, const struct ipcslot *slot);

#endif
