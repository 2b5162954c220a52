// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The ring: single producer, single consumer, each with a count in its own section. */
#include "internal.h"

static bool drops_oldest(const struct qv_end *end)
{
	return end->page.full == QV_CHAN_DROP_OLDEST;
}

static int ring_attach(struct qv_end *end, bool fresh)
{
	struct qv_chan_section *own = end_section(end, end->self);

	if (fresh)
		return QV_CHAN_DONE;
	end->count = shared_load(&own->count);
	end->lost = shared_load(&own->lost);
	end->freed = shared_load(&own->freed);
	end->high = shared_load(&own->high);
	end->last = shared_load(&own->last);
	if (end->self == 0 && !drops_oldest(end) && end->count - end->freed > end->page.slots)
		return QV_CHAN_OWN_SECTION;
	return QV_CHAN_DONE;
}

/*
 * The reader begins with the oldest item that the writer keeps. It continues where it was if its
 * section already refers to this generation of the writer.
 */
static int ring_bind(struct qv_end *end)
{
	struct qv_chan_section *own = end_section(end, 1), *writer = end_section(end, 0);
	uint64_t freed, head;

	if (shared_load(&own->bound) == end->peer_generation) {
		end->seen = end->count;
		return QV_CHAN_DONE;
	}
	freed = shared_load(&writer->freed);
	head = shared_load(&writer->count);
	if (drops_oldest(end))
		freed = head > end->page.slots ? head - end->page.slots : 0;
	if (head - freed > end->page.slots)
		return QV_CHAN_CORRUPT;
	shared_store(&own->bound, 0);
	shared_store(&own->count, freed);
	shared_store(&own->last, 0);
	shared_store(&own->bound, end->peer_generation);
	end->count = end->seen = freed;
	end->last = 0;
	return QV_CHAN_DONE;
}

/*
 * Learns how many items the reader has taken. A reader that is not bound to this end took none. If
 * the reader has not attached in this life, its words are those of its last life, and the manager
 * zeroes them between any two of these loads.
 */
static int ring_reload(struct qv_end *end)
{
	struct qv_chan_section *own = end_section(end, 0), *reader = end_section(end, 1);
	uint64_t attached, bound, tail;

	/* of whatever life: it says nothing new */
	if (shared_load(&reader->count) == end->freed)
		return QV_CHAN_DONE;
	attached = shared_load(&reader->generation);
	bound = shared_load(&reader->bound);
	tail = shared_load(&reader->count);
	if (attached != end->peer_generation || bound != end->generation)
		return QV_CHAN_DONE;
	if (tail - end->freed > end->count - end->freed) {
		/* the manager zeroes the section of a reader that restarts, after the life word */
		if (QV_CHAN_GENERATION(end_life(end, 1)) != end->peer_generation)
			return QV_CHAN_DONE;
		return QV_CHAN_CORRUPT;
	}
	if (tail != end->freed) {
		end->freed = tail;
		shared_store(&own->freed, tail);
	}
	return QV_CHAN_DONE;
}

static int ring_full(struct qv_end *end)
{
	struct qv_chan_section *own = end_section(end, 0);

	if (end->page.full == QV_CHAN_DROP_NEWEST) {
		shared_store(&own->lost, ++end->lost);
		return QV_CHAN_FULL;
	}
	shared_store(&own->refused, shared_load(&own->refused) + 1);
	return end_reason(end, QV_CHAN_FULL);
}

/* A ring without a reader fills up, so its writer does not have to be bound. */
static int ring_writer_peer(struct qv_end *end)
{
	uint64_t generation = QV_CHAN_GENERATION(end_life(end, 1));

	if (generation != end->peer_generation && end->peer_generation &&
	    !(end->page.flags & QV_CHAN_RECONNECT))
		end->ended = true;
	if (end->ended)
		return QV_CHAN_RESTARTED;
	end->peer_generation = generation;
	return QV_CHAN_DONE;
}

static int ring_claim(struct qv_end *end)
{
	int result = ring_writer_peer(end);

	if (result)
		return result;
	if (!drops_oldest(end) && end->count - end->freed + end->more >= end->page.slots) {
		result = ring_reload(end);
		if (result)
			return result;
		if (end->count - end->freed >= end->page.slots)
			return ring_full(end);
	}
	end->place = end->count & (end->page.slots - 1);
	end->number = end->count + end->lost + 1;
	return QV_CHAN_DONE;
}

static int ring_write(struct qv_end *end, const void *data)
{
	struct qv_chan_slot *slot;
	int result = ring_claim(end);

	if (result)
		return result;
	slot = end_slot(end, 0, end->place);
	shared_store(&slot->begin, end->number);
	shared_copy_in(slot + 1, data, end->page.item);
	shared_store(&slot->end, end->number);
	end_publish(end, &end_section(end, 0)->count, ++end->count);
	return QV_CHAN_DONE;
}

static void ring_publish(struct qv_end *end, uint64_t size)
{
	(void)size;
	end_publish(end, &end_section(end, 0)->count, ++end->count);
}

/* Continues after items that were, or are being, overwritten. */
static int ring_lapped(struct qv_end *end)
{
	end->count++;
	return QV_CHAN_LAPPED;
}

/*
 * While there are items that this end found before, it does not look for more: so it does not take
 * the cache line of its count away from the writer.
 */
static int ring_find(struct qv_end *end, bool again)
{
	uint64_t head = end->seen, slots = end->page.slots, waiting, number;

	if (again)
		return QV_CHAN_USAGE;
	if (head <= end->count + end->more || drops_oldest(end))
		head = shared_load(&end_section(end, 0)->count);
	waiting = head - end->count;
	if (head < end->seen || head < end->count || (waiting > slots && !drops_oldest(end)))
		return QV_CHAN_CORRUPT;
	end->seen = head;
	if (!waiting)
		return end_reason(end, QV_CHAN_NOTHING);
	if (waiting > slots) {
		end->count = head - slots;
		waiting = slots;
	}
	if (waiting > end->high) {
		end->high = waiting;
		shared_store(&end_section(end, 1)->high, waiting);
	}
	end->place = end->count & (slots - 1);
	number = shared_load(&end_slot(end, 0, end->place)->end);
	if (number <= end->count || number <= end->last)
		return QV_CHAN_CORRUPT;
	if (drops_oldest(end) && number != end->count + 1)
		return ring_lapped(end);
	end->number = number;
	end->bytes = end->page.item;
	return QV_CHAN_DONE;
}

static void ring_taken(struct qv_end *end, struct qv_item *item)
{
	struct qv_chan_section *own = end_section(end, 1);

	if (item->lost)
		shared_store(&own->lost, end->lost += item->lost);
	shared_store(&own->last, end->number);
	end_publish(end, &own->count, ++end->count);
}

/*
 * The usual case of a read: the writer is the one to which this end is bound. Nothing is taken in
 * any other case, also if the item does not stay intact: the caller then looks again, and learns
 * why. Loads the life word before the item and after it.
 */
static int ring_read(struct qv_end *end, void *data, struct qv_item *item)
{
	struct qv_chan_section *own = end_section(end, 1);
	const struct qv_chan_slot *slot;
	int result;

	if (!end->peer_generation || drops_oldest(end) ||
	    QV_CHAN_GENERATION(end_life(end, 0)) != end->peer_generation)
		return END_UNUSUAL;
	result = ring_find(end, false);
	if (result == QV_CHAN_NOTHING &&
	    QV_CHAN_GENERATION(end_life(end, 0)) == end->peer_generation)
		return result;
	if (result)
		return END_UNUSUAL;
	slot = end_slot(end, 0, end->place);
	shared_copy_out(data, slot + 1, end->bytes);
	if (shared_load(&slot->begin) != end->number ||
	    QV_CHAN_GENERATION(end_life(end, 0)) != end->peer_generation)
		return END_UNUSUAL;
	item->number = end->number;
	item->bytes = end->bytes;
	item->lost = end->last ? end->number - end->last - 1 : 0;
	end->last = end->number;
	if (item->lost)
		shared_store(&own->lost, end->lost += item->lost);
	shared_store(&own->last, end->number);
	end_publish(end, &own->count, ++end->count);
	return QV_CHAN_DONE;
}

const struct end_type end_ring = {
	.attach = ring_attach, .bind = ring_bind, .claim = ring_claim, .publish = ring_publish,
	.find = ring_find, .taken = ring_taken,
	.write = ring_write, .read = ring_read,
};
