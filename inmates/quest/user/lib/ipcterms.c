// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* How an end of messages begins: the cost of a slot, the terms of both ends, the bound. */
#include <stdlib.h>
#include <string.h>
#include "ipcslot.h"
#include "raw.h"

#define ROUNDS		8	/* slots that are exchanged to connect */
#define SLOT_MIN	256
#define MARGIN		2	/* for the polls: the one under way, and the next, which finds */
#define NS_PER_S	1000000000ull
#define NS_PER_US	1000ull

_Static_assert(sizeof(struct ipcslot_head) == IPC_HEAD, "ipc.h");
_Static_assert(IPC_HEAD + sizeof(struct ipc_terms) <= SLOT_MIN, "terms in a slot");

static uint64_t cpu_ns(void)
{
	struct timespec t;

	(void)quest_clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static void longer(uint64_t *most, uint64_t ns)
{
	*most = ns > *most ? ns : *most;
}

/* Stores how long the caller's VCPU takes for `demand_ns` at most. Returns 0 or minus an error. */
static int wait_of(struct ipc *end, uint64_t demand_ns, struct ipc_bound *bound)
{
	struct quest_ipc_wait w = { .demand_ns = demand_ns, .sleeps = end->how == IPC_SLEEPS };
	int error = quest_ipc_wait(&w);

	*bound = (struct ipc_bound){ w.any_ns, w.now_ns, w.paper_ns };
	end->own.wake_ns = w.wake_ns;
	return error;
}

/*
 * An end that sleeps also pays for its wait: its CPU time in a whole round counts as the cost of a
 * slot. Call it after each round.
 */
static void end_round(struct ipc *end, uint32_t round)
{
	uint64_t now = cpu_ns();

	if (end->how == IPC_SLEEPS && round)
		longer(&end->own.slot_ns, now - end->mark);
	end->mark = now;
}

/* Takes a whole slot with the other end's terms, and measures the cost. Returns 0 or an error. */
static int take_whole(struct ipc *end, const struct ipcslot *slot, unsigned char *room)
{
	uint64_t begin = cpu_ns();
	int error = ipcslot_take(end, slot, room);

	longer(&end->own.slot_ns, cpu_ns() - begin);
	memcpy(&end->peer, room, sizeof(end->peer));
	return error;
}

/* Sends a whole slot with `own` at its beginning, at this end's turn, and measures the cost. */
static int put_whole(struct ipc *end, enum ipcslot_kind kind, uint32_t round, unsigned char *room)
{
	const struct ipcslot_head head = { .kind = kind, .total = ROUNDS, .at = round };
	uint64_t begin;
	int error;

	memcpy(room, &end->own, sizeof(end->own));
	begin = cpu_ns();
	error = ipcslot_put(end, &head, room, end->body);
	/* before the first slot of all, the sender may have waited for the receiver */
	if (round || kind == IPCSLOT_TERMS)
		longer(&end->own.slot_ns, cpu_ns() - begin);
	return error;
}

/* The sender: a receiver that has just begun refuses a slot that another one took. */
static int take_terms(struct ipc *end, const struct ipcslot *slot, unsigned char *room)
{
	int error;

	if (slot->head.kind == IPCSLOT_TERMS && slot->bytes == end->body)
		return take_whole(end, slot, room);
	error = ipcslot_wrong(end);
	return error == -EBADMSG && slot->head.kind == IPCSLOT_REFUSED ? -ECONNRESET : error;
}

static int connect_in(struct ipc *sender, unsigned char *room)
{
	struct ipcslot slot;
	uint32_t round;
	int error = 0;

	for (round = 0; round < ROUNDS && !error; round++) {
		error = put_whole(sender, IPCSLOT_HELLO, round, room);
		if (!error)
			error = ipcslot_look(sender, &slot);
		if (!error)
			error = take_terms(sender, &slot, room);
		end_round(sender, round);
	}
	return error ? error : wait_of(sender, MARGIN * sender->own.slot_ns, &sender->own.slot);
}

int ipc_connect(struct ipc *sender)
{
	unsigned char *room = malloc(sender->body);
	int error;

	if (!room)
		return -ENOMEM;
	memset(room, 0, sender->body);
	error = connect_in(sender, room);
	free(room);
	sender->connected = !error;
	return error;
}

/* The receiver has looked at a slot of ipc_connect(). The last answer has what it knows by then. */
int ipcterms_answer(struct ipc *end, const struct ipcslot *slot)
{
	unsigned char *room;
	uint64_t served;
	int error;

	if (slot->bytes != end->body) {
		error = ipcslot_release(end);
		return error ? error : ipcslot_refuse(end, 0);
	}
	room = malloc(end->body);
	error = room ? take_whole(end, slot, room) : -ENOMEM;
	if (!error && slot->head.at == ROUNDS - 1) {
		served = MARGIN * end->own.slot_ns + end->service_ns;
		error = wait_of(end, served, &end->own.take);
		served += MARGIN * end->own.slot_ns;
		if (!error)
			error = wait_of(end, served, &end->own.slot);
	}
	if (!error)
		error = put_whole(end, IPCSLOT_TERMS, slot->head.at, room);
	end_round(end, slot->head.at);
	free(room);
	return error;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	uint64_t result;

	return __builtin_add_overflow(a, b, &result) ? IPC_NEVER : result;
}

static uint64_t product(uint64_t a, uint64_t b)
{
	uint64_t result;

	return __builtin_mul_overflow(a, b, &result) ? IPC_NEVER : result;
}

/* An empty message takes a slot, too. */
static uint64_t slots(const struct ipc *end, size_t bytes)
{
	return bytes ? (bytes - 1) / end->body + 1 : 1;
}

/* Each slot waits for the sender and for the receiver; `more`: its answer for the sender. */
static uint64_t of_slots(uint64_t n, uint64_t more, uint64_t sender, uint64_t receiver)
{
	return sum(product(n, sum(sender, receiver)), product(more, sender));
}

int ipc_bound(const struct ipc *sender, size_t bytes, size_t reply, struct ipc_bound *bound)
{
	const struct ipc_bound *own = &sender->own.slot, *peer = &sender->peer.slot;
	uint64_t n, more = 1;

	if (!sender->connected)
		return -ENOTCONN;
	if (bytes > IPC_BYTES_MAX || (reply != IPC_ONE_WAY && reply > IPC_BYTES_MAX))
		return -EMSGSIZE;
	n = slots(sender, bytes);
	if (reply == IPC_ONE_WAY) {
		peer = &sender->peer.take;
	} else {
		n += slots(sender, reply) - 1;
		more = n;
	}
	*bound = (struct ipc_bound){
		.any_ns = of_slots(n, more, own->any_ns, peer->any_ns),
		.now_ns = of_slots(n, more, own->now_ns, peer->now_ns),
		.paper_ns = of_slots(n, more, own->paper_ns, peer->paper_ns),
	};
	return 0;
}

static int check(struct ipc *end)
{
	const struct qv_chan_page *page = &channel_end(end->channel)->page;
	struct ipc_bound bound;

	if (page->type != QV_CHAN_MAILBOX)
		return -EACCES;
	if ((end->how == IPC_SLEEPS && !(page->flags & QV_CHAN_BELL)) ||
	    end->service_ns / NS_PER_US > IPC_SERVICE_US_MAX)
		return -EINVAL;
	if (page->item < SLOT_MIN || page->item > IPC_BYTES_MAX)
		return -EMSGSIZE;
	end->body = page->item - IPC_HEAD;
	return wait_of(end, 0, &bound);
}

int ipc_open(struct ipc *end, const char *channel, enum ipc_how how, uint64_t service_us)
{
	int error;

	memset(end, 0, sizeof(*end));
	end->how = how;
	if (__builtin_mul_overflow(service_us, NS_PER_US, &end->service_ns))
		end->service_ns = IPC_NEVER;
	end->channel = channel_open(channel);
	if (end->channel < 0)
		return end->channel;
	error = check(end);
	if (!error && channel_end(end->channel)->self && ipcslot_owed(end))
		error = ipcslot_refuse(end, 0);
	if (error)
		(void)channel_close(end->channel);
	return error;
}

int ipc_close(struct ipc *end)
{
	return channel_close(end->channel);
}
