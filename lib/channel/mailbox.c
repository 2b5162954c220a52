// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The mailbox: a slot and a counter for each end, and strict alternation. */
#include "internal.h"

static int mailbox_attach(struct qv_end *end, bool fresh)
{
	struct qv_chan_section *own = end_section(end, end->self);

	if (fresh)
		return QV_CHAN_DONE;
	end->count = shared_load(&own->count);
	end->last = shared_load(&own->last);
	return QV_CHAN_DONE;
}

/* Both counters begin at 0 for each pair of generations. */
static int mailbox_bind(struct qv_end *end)
{
	struct qv_chan_section *own = end_section(end, end->self);

	if (shared_load(&own->bound) == end->peer_generation)
		return QV_CHAN_DONE;
	shared_store(&own->bound, 0);
	shared_store(&own->count, 0);
	shared_store(&own->last, 0);
	shared_store(&own->bound, end->peer_generation);
	end->count = end->last = 0;
	return QV_CHAN_DONE;
}

/* Sets end->seen to the peer's counter. Returns QV_CHAN_DONE if it is this end's turn. */
static int mailbox_turn(struct qv_end *end)
{
	struct qv_chan_section *peer = end_section(end, end->peer);
	uint64_t bound = shared_load(&peer->bound), count = shared_load(&peer->count), ahead;

	if (bound != end->generation)
		count = 0;
	ahead = end->self ? count - end->count : end->count - count;	/* of end 0: 0 or 1 */
	if (ahead > 1)
		return QV_CHAN_CORRUPT;
	end->seen = count;
	return ahead == end->self ? QV_CHAN_DONE : QV_CHAN_FULL;
}

static int mailbox_claim(struct qv_end *end)
{
	int result = mailbox_turn(end);

	if (result)
		return result == QV_CHAN_FULL ? end_reason(end, result) : result;
	end->place = 0;
	end->number = end->count + 1;
	return QV_CHAN_DONE;
}

static void mailbox_publish(struct qv_end *end, uint64_t size)
{
	struct qv_chan_section *own = end_section(end, end->self);

	shared_store(&own->bytes, size);
	end_publish(end, &own->count, ++end->count);
}

static int mailbox_find(struct qv_end *end, bool again)
{
	struct qv_chan_section *peer = end_section(end, end->peer);
	int result = mailbox_turn(end);

	if (again)
		return QV_CHAN_USAGE;
	if (result == QV_CHAN_FULL || (!result && end->seen <= end->last))
		return end_reason(end, QV_CHAN_NOTHING);
	if (result)
		return result;
	end->place = 0;
	end->number = shared_load(&end_slot(end, end->peer, 0)->end);
	end->bytes = shared_load(&peer->bytes);
	if (end->number != end->seen || end->bytes > end->page.item)
		return QV_CHAN_CORRUPT;
	return QV_CHAN_DONE;
}

static void mailbox_taken(struct qv_end *end, struct qv_item *item)
{
	(void)item;
	shared_store(&end_section(end, end->self)->last, end->number);
}

const struct end_type end_mailbox = {
	.attach = mailbox_attach, .bind = mailbox_bind, .claim = mailbox_claim,
	.publish = mailbox_publish, .find = mailbox_find, .taken = mailbox_taken,
	.second_writes = true, .writer_binds = true,
};
