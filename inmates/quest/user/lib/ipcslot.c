// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "ipcslot.h"
#include "raw.h"

#define POLLS		32	/* polls between two instructions PAUSE */
#define LOOK_US		10000	/* a sleeping sender looks whether the receiver is there */

/* lib/channel/shared.c: they access each word of a channel once. */
void shared_copy_out(void *to, const void *from, uint64_t size);
void shared_copy_in(void *to, const void *from, uint64_t size);

static const int errors[] = QUEST_CHANNEL_ERRORS;

/* Returns minus the error of a result of the channel. */
static int failed_by(struct ipc *end, int result)
{
	if (result == QV_CHAN_RESTARTED)
		end->connected = end->owes = false;
	return -errors[-result];
}

/*
 * After a look at the channel with `result`: returns 0 to look again, after a wait of `us` at most
 * (negative: without a limit) if the end sleeps; or minus an error.
 */
static int look_again(struct ipc *end, int result, long us)
{
	if (result != QV_CHAN_NOTHING && result != QV_CHAN_FULL && result != QV_CHAN_ABSENT)
		return failed_by(end, result);
	if (end->how == IPC_SLEEPS) {
		result = channel_wait(end->channel, us);
		if (channel_reset_before(end->channel))
			return failed_by(end, QV_CHAN_RESTARTED);
		return result == -ETIMEDOUT ? 0 : result;
	}
	if (++end->polls % POLLS == 0)
		__asm__ volatile("pause" : : : "memory");
	return 0;
}

int ipcslot_put(struct ipc *end, const struct ipcslot_head *head, const void *body, size_t bytes)
{
	struct qv_end *e = channel_end(end->channel);
	int result, error;
	void *room;

	if (!e)
		return -EBADF;
	while ((result = qv_end_claim(e, &room))) {
		error = look_again(end, result, LOOK_US);
		if (error)
			return error;
	}
	shared_copy_in(room, head, sizeof(*head));
	shared_copy_in((unsigned char *)room + sizeof(*head), body, bytes);
	result = qv_end_commit(e, sizeof(*head) + bytes);
	if (result)
		return failed_by(end, result);
	return qv_end_rings(e) ? quest_channel_ring(end->channel) : 0;
}

int ipcslot_look(struct ipc *end, struct ipcslot *slot)
{
	struct qv_end *e = channel_end(end->channel);
	int result, error;
	struct qv_item item;
	const void *data;

	if (!e)
		return -EBADF;
	while ((result = qv_end_peek(e, &data, &item))) {
		error = look_again(end, result, -1);
		if (error)
			return error;
	}
	*slot = (struct ipcslot){ 0 };
	if (item.bytes < sizeof(slot->head))
		return 0;
	shared_copy_out(&slot->head, data, sizeof(slot->head));
	slot->body = (const unsigned char *)data + sizeof(slot->head);
	slot->bytes = item.bytes - sizeof(slot->head);
	return 0;
}

bool ipcslot_owed(struct ipc *end)
{
	struct qv_end *e = channel_end(end->channel);
	struct qv_item item;
	const void *data;
	void *room;

	/* an item that is found stays for ipcslot_look() */
	return !qv_end_claim(e, &room) && !qv_end_abort(e) &&
	       qv_end_peek(e, &data, &item) == QV_CHAN_NOTHING;
}

int ipcslot_release(struct ipc *end)
{
	int result = qv_end_release(channel_end(end->channel));

	return result ? failed_by(end, result) : 0;
}

int ipcslot_take(struct ipc *end, const struct ipcslot *slot, void *to)
{
	shared_copy_out(to, slot->body, slot->bytes);
	return ipcslot_release(end);
}

int ipcslot_refuse(struct ipc *end, uint32_t total)
{
	const struct ipcslot_head head = { .kind = IPCSLOT_REFUSED, .total = total };

	return ipcslot_put(end, &head, NULL, 0);
}

int ipcslot_wrong(struct ipc *end)
{
	int error = ipcslot_release(end);

	return error ? error : -EBADMSG;
}

bool ipcslot_continues(const struct ipcslot *slot, size_t at)
{
	const struct ipcslot_head *h = &slot->head;

	return h->at == at && h->total <= IPC_BYTES_MAX && slot->bytes <= h->total - at &&
	       (slot->bytes || !h->total);
}
