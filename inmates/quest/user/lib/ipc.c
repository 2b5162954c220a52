// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "ipcslot.h"

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* ---- the sender ---- */

/* Sends a part and looks at the answer. Returns 0 or minus an error. */
static int exchange(struct ipc *end, const struct ipcslot_head *head, const void *body,
		    size_t bytes, struct ipcslot *slot)
{
	int error = ipcslot_put(end, head, body, bytes);

	if (!error)
		error = ipcslot_look(end, slot);
	if (error || slot->head.kind != IPCSLOT_REFUSED)
		return error;
	error = ipcslot_release(end);
	return error ? error : slot->head.total ? -EMSGSIZE : -ECONNRESET;
}

/*
 * Sends all parts. The answers are TAKEN, but that to the last part is of the kind `last` and is
 * left in `slot`. Returns 0 or minus an error.
 */
static int request(struct ipc *end, enum ipcslot_kind kind, const unsigned char *message,
		   size_t bytes, enum ipcslot_kind last, struct ipcslot *slot)
{
	struct ipcslot_head head = { .kind = kind, .total = (uint32_t)bytes };
	size_t now;
	int error;

	if (!end->connected)
		return -ENOTCONN;
	if (bytes > IPC_BYTES_MAX)
		return -EMSGSIZE;
	for (;;) {
		now = smaller(bytes - head.at, end->body);
		error = exchange(end, &head, message + head.at, now, slot);
		head.at += (uint32_t)now;
		if (error || head.at == bytes)
			break;
		if (slot->head.kind != IPCSLOT_TAKEN)
			return ipcslot_wrong(end);
		error = ipcslot_release(end);
		if (error)
			break;
	}
	return error || slot->head.kind == last ? error : ipcslot_wrong(end);
}

int ipc_send(struct ipc *sender, const void *message, size_t bytes)
{
	struct ipcslot slot;
	int error = request(sender, IPCSLOT_SEND, message, bytes, IPCSLOT_TAKEN, &slot);

	return error ? error : ipcslot_release(sender);
}

ssize_t ipc_call(struct ipc *sender, const void *message, size_t bytes, void *reply, size_t room)
{
	struct ipcslot_head next = { .kind = IPCSLOT_NEXT };
	struct ipcslot slot;
	int error = request(sender, IPCSLOT_CALL, message, bytes, IPCSLOT_REPLY, &slot);

	while (!error) {
		if (slot.head.kind != IPCSLOT_REPLY || !ipcslot_continues(&slot, next.at) ||
		    (next.at && slot.head.total != next.total))
			return ipcslot_wrong(sender);
		next.total = slot.head.total;
		if (next.total > room) {
			error = ipcslot_release(sender);
			return error ? error : -EMSGSIZE;
		}
		error = ipcslot_take(sender, &slot, (unsigned char *)reply + next.at);
		next.at += (uint32_t)slot.bytes;
		if (!error && next.at == next.total)
			return next.total;
		if (!error)
			error = exchange(sender, &next, NULL, 0, &slot);
	}
	return error;
}

/* ---- the receiver ---- */

/* Refuses the message of a slot, as ipcslot_refuse() does. */
static int refuse(struct ipc *end, uint32_t total)
{
	int error = ipcslot_release(end);

	return error ? error : ipcslot_refuse(end, total);
}

/*
 * Takes a part of a message of which `at` bytes are there. Returns its bytes, or minus an error.
 */
static int take_part(struct ipc *end, const struct ipcslot *slot, size_t at, unsigned char *message,
		     size_t room)
{
	const struct ipcslot_head taken = { .kind = IPCSLOT_TAKEN }, *h = &slot->head;
	int error;

	if (h->total > room) {
		error = refuse(end, h->total);
		return error ? error : -EMSGSIZE;
	}
	error = ipcslot_take(end, slot, message + at);
	if (!error && (h->kind == IPCSLOT_SEND || at + slot->bytes < h->total))
		error = ipcslot_put(end, &taken, NULL, 0);
	return error ? error : (int)slot->bytes;
}

/* Returns whether the slot begins a message. */
static bool begins(const struct ipcslot_head *h)
{
	return !h->at && (h->kind == IPCSLOT_CALL || h->kind == IPCSLOT_SEND);
}

/* Refuses a slot that continues no message, and forgets the message that it interrupts. */
static int lose(struct ipc *end, struct ipcslot_head *first)
{
	first->kind = 0;
	return refuse(end, 0);
}

/* A slot that continues no message is refused: one of the programs has restarted. */
ssize_t ipc_receive(struct ipc *receiver, void *message, size_t room)
{
	struct ipcslot_head first = { .kind = 0 };
	struct ipcslot slot;
	size_t at = 0;
	int result;

	receiver->owes = false;
	do {
		result = ipcslot_look(receiver, &slot);
		if (result)
			return result;
		if (begins(&slot.head)) {
			first = slot.head;
			at = 0;
		}
		if (slot.head.kind == IPCSLOT_HELLO)
			result = ipcterms_answer(receiver, &slot);
		else if (first.kind && slot.head.kind == first.kind &&
			 slot.head.total == first.total && ipcslot_continues(&slot, at))
			result = take_part(receiver, &slot, at, message, room);
		else
			result = lose(receiver, &first);
		if (result < 0)
			return result;
		at += (size_t)result;
	} while (!first.kind || at < first.total);
	receiver->owes = first.kind == IPCSLOT_CALL;
	return first.total;
}

int ipc_reply(struct ipc *receiver, const void *reply, size_t bytes)
{
	struct ipcslot_head head = { .kind = IPCSLOT_REPLY, .total = (uint32_t)bytes };
	const unsigned char *from = reply;
	struct ipcslot slot;
	size_t now;
	int error;

	if (!receiver->owes || bytes > IPC_BYTES_MAX)
		return -EINVAL;
	receiver->owes = false;
	for (;;) {
		now = smaller(bytes - head.at, receiver->body);
		error = ipcslot_put(receiver, &head, from + head.at, now);
		head.at += (uint32_t)now;
		if (error || head.at == bytes)
			return error;
		error = ipcslot_look(receiver, &slot);
		if (error)
			return error;
		/* another slot stays in the channel for ipc_receive() */
		if (slot.head.kind != IPCSLOT_NEXT)
			return -EMSGSIZE;
		error = ipcslot_release(receiver);
		if (error)
			return error;
	}
}
