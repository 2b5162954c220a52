// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Attaching to a channel, the peer's generations, and the calls that all types share. */
#include <stddef.h>
#include "internal.h"

#define READ_TRIES	4	/* drop-oldest: slots that may be overwritten meanwhile */

static const struct end_type *const end_types[] = {
	[QV_CHAN_MAILBOX] = &end_mailbox,
	[QV_CHAN_FOUR_SLOT] = &end_four_slot,
	[QV_CHAN_RING] = &end_ring,
	[QV_CHAN_MEMORY] = NULL,
};

static const struct end_type *type_of(const struct qv_end *end)
{
	return end_types[end->page.type];
}

/* Takes over the section, or says that it belongs to this generation from now on. */
static int attach_section(struct qv_end *end)
{
	struct qv_chan_section *own = end_section(end, end->self);
	uint64_t old = shared_load(&own->generation);
	int result;

	if (old && old != end->generation)
		return QV_CHAN_OWN_SECTION;
	end->armed = shared_load(&own->armed);
	/* a program that had this end before may have armed; fenced as in qv_end_will_arm() */
	if (shared_load(&own->arms))
		shared_store_fenced(&own->arms, 0);
	result = type_of(end)->attach(end, !old);
	if (!result && !old)
		shared_store(&own->generation, end->generation);
	return result;
}

int qv_end_attach(struct qv_end *end, void *window, uint64_t length, uint32_t self)
{
	uint64_t life;

	__builtin_memset(end, 0, sizeof(*end));
	if (length < QV_CHAN_PAGE || (uintptr_t)window % QV_CHAN_PAGE)
		return QV_CHAN_LAYOUT;
	shared_copy_out(&end->page, window, sizeof(end->page));
	if (qv_chan_check(&end->page, length))
		return QV_CHAN_LAYOUT;
	if (self >= end->page.ends)
		return QV_CHAN_USAGE;
	end->window = window;
	end->self = self;
	end->peer = !self;
	life = end_life(end, self);
	end->generation = QV_CHAN_GENERATION(life);
	if (!end->generation || QV_CHAN_STATE(life) != QV_CHAN_IS_RUNNING)
		return QV_CHAN_ABSENT;
	return type_of(end) ? attach_section(end) : QV_CHAN_DONE;
}

/* The peer has another generation than the one to which this end is bound. */
static int peer_restarted(struct qv_end *end)
{
	end->peer_generation = 0;
	end->claimed = end->peeked = false;
	end->more = 0;
	end->ended = !(end->page.flags & QV_CHAN_RECONNECT);
	return QV_CHAN_RESTARTED;
}

/*
 * Binds to the peer's generation if this end is bound to none. Returns QV_CHAN_RESTARTED if the
 * generation changed, else the reason why it cannot bind now.
 */
int end_bound(struct qv_end *end)
{
	uint64_t generation;
	int result;

	if (end->ended)
		return QV_CHAN_RESTARTED;
	generation = QV_CHAN_GENERATION(end_life(end, end->peer));
	if (end->peer_generation)
		return generation == end->peer_generation ? QV_CHAN_DONE : peer_restarted(end);
	if (!generation || shared_load(&end_section(end, end->peer)->generation) != generation)
		return end_reason(end, QV_CHAN_ABSENT);
	end->peer_generation = generation;
	result = type_of(end)->bind(end);
	if (!result)
		return QV_CHAN_DONE;
	end->peer_generation = 0;
	/* the manager zeroes the section of a peer that restarts, after the life word */
	if (QV_CHAN_GENERATION(end_life(end, end->peer)) != generation)
		return end_reason(end, QV_CHAN_ABSENT);
	return result;
}

int end_conclude(struct qv_end *end, int result)
{
	if (QV_CHAN_GENERATION(end_life(end, end->peer)) != end->peer_generation)
		return peer_restarted(end);
	return result;
}

static bool end_writes(const struct qv_end *end)
{
	return type_of(end) && (!end->self || type_of(end)->second_writes);
}

static bool end_reads(const struct qv_end *end)
{
	return type_of(end) && (end->self || type_of(end)->second_writes);
}

int qv_end_claim(struct qv_end *end, void **data)
{
	struct qv_chan_slot *slot;
	int result = QV_CHAN_DONE;

	if (!end_writes(end) || (end->claimed && end->more))
		return QV_CHAN_USAGE;
	if (type_of(end)->writer_binds)
		result = end_bound(end);
	if (!result && !end->claimed) {
		if (end->peeked)
			return QV_CHAN_USAGE;
		result = type_of(end)->claim(end);
		if (result && type_of(end)->writer_binds)
			result = end_conclude(end, result);
	}
	if (result)
		return result;
	slot = end_slot(end, end->self, end->place);
	if (!end->claimed)
		shared_store(&slot->begin, end->number);
	shared_barrier();
	end->claimed = true;
	*data = slot + 1;
	return QV_CHAN_DONE;
}

int qv_end_commit(struct qv_end *end, uint64_t size)
{
	struct qv_chan_slot *slot;

	if (!end->claimed || end->more)
		return QV_CHAN_USAGE;
	if (end->page.type == QV_CHAN_MAILBOX ? size > end->page.item : size != end->page.item)
		return QV_CHAN_SIZE;
	slot = end_slot(end, end->self, end->place);
	shared_barrier();
	shared_store(&slot->end, end->number);
	type_of(end)->publish(end, size);
	end->claimed = false;
	return QV_CHAN_DONE;
}

int qv_end_abort(struct qv_end *end)
{
	if (!end->claimed)
		return QV_CHAN_USAGE;
	end->claimed = false;
	end->more = 0;
	return QV_CHAN_DONE;
}

static int write_item(struct qv_end *end, const void *data, uint64_t size)
{
	void *room;
	int result = qv_end_claim(end, &room);

	if (result)
		return result;
	shared_copy_in(room, data, size);
	return qv_end_commit(end, size);
}

int qv_end_write(struct qv_end *end, const void *data, uint64_t size)
{
	int result;

	if (!end_writes(end) || end->claimed || end->peeked)
		return QV_CHAN_USAGE;
	if (end->page.type == QV_CHAN_MAILBOX ? size > end->page.item : size != end->page.item)
		return QV_CHAN_SIZE;
	result = type_of(end)->write ? type_of(end)->write(end, data) :
				       write_item(end, data, size);
	return result == QV_CHAN_FULL && end->page.full == QV_CHAN_DROP_NEWEST ? QV_CHAN_DONE :
	       result;
}

/* Looks for an item. Each try that finds a slot overwritten continues with a newer one. */
static int look_for_item(struct qv_end *end, bool again)
{
	int result = end_bound(end), tries;

	if (result)
		return result;
	for (tries = 0; tries < READ_TRIES; tries++) {
		result = type_of(end)->find(end, again);
		if (result != QV_CHAN_LAPPED)
			break;
	}
	return result ? end_conclude(end, result) : QV_CHAN_DONE;
}

/*
 * Finds an item. A peer that has ended by now may have written its last item after the look, so a
 * second look decides.
 */
int end_find_item(struct qv_end *end, bool again)
{
	int result;

	if (!end_reads(end) || end->claimed)
		return QV_CHAN_USAGE;
	result = look_for_item(end, again);
	if (result == QV_CHAN_STOPPED || result == QV_CHAN_FAILED || result == QV_CHAN_ABSENT)
		result = look_for_item(end, again);
	return result;
}

/* Records that the item was taken, and returns QV_CHAN_DONE, if it is still the item found. */
static int take_item(struct qv_end *end, struct qv_item *item)
{
	uint64_t begin = shared_load(&end_slot(end, end->peer, end->place)->begin);
	bool oldest = end->page.full == QV_CHAN_DROP_OLDEST;
	int result = end_conclude(end, begin == end->number ? QV_CHAN_DONE :
					oldest ? QV_CHAN_LAPPED : QV_CHAN_CORRUPT);

	if (result == QV_CHAN_LAPPED)
		end->count++;
	if (result)
		return result;
	item->number = end->number;
	item->bytes = end->bytes;
	item->lost = end->last && end->number > end->last ? end->number - end->last - 1 : 0;
	type_of(end)->taken(end, item);
	if (end->number > end->last)
		end->last = end->number;
	return QV_CHAN_DONE;
}

static int read_item(struct qv_end *end, void *data, struct qv_item *item, bool again)
{
	int result = QV_CHAN_LAPPED, tries;

	for (tries = 0; tries < READ_TRIES && result == QV_CHAN_LAPPED; tries++) {
		result = end_find_item(end, again);
		if (result)
			return result;
		shared_copy_out(data, end_slot(end, end->peer, end->place) + 1, end->bytes);
		result = take_item(end, item);
	}
	return result;
}

static int check_and_read(struct qv_end *end, void *data, uint64_t size, struct qv_item *item,
			  bool again)
{
	int result = END_UNUSUAL;

	if (end->claimed || end->peeked || !end_reads(end))
		return QV_CHAN_USAGE;
	if (size < end->page.item)
		return QV_CHAN_SIZE;
	if (type_of(end)->read && !again && !end->ended)
		result = type_of(end)->read(end, data, item);
	return result == END_UNUSUAL ? read_item(end, data, item, again) : result;
}

int qv_end_read(struct qv_end *end, void *data, uint64_t size, struct qv_item *item)
{
	return check_and_read(end, data, size, item, false);
}

int qv_end_read_again(struct qv_end *end, void *data, uint64_t size, struct qv_item *item)
{
	return check_and_read(end, data, size, item, true);
}

int qv_end_peek(struct qv_end *end, const void **data, struct qv_item *item)
{
	int result;

	if (end->peeked && end->more)
		return QV_CHAN_USAGE;
	result = end->peeked ? end_bound(end) : end_find_item(end, false);
	if (result)
		return result;
	end->peeked = true;
	item->number = end->number;
	item->bytes = end->bytes;
	item->lost = end->last && end->number > end->last ? end->number - end->last - 1 : 0;
	*data = end_slot(end, end->peer, end->place) + 1;
	shared_barrier();
	return QV_CHAN_DONE;
}

int qv_end_release(struct qv_end *end)
{
	struct qv_item item;

	if (!end->peeked || end->more)
		return QV_CHAN_USAGE;
	end->peeked = false;
	shared_barrier();
	return take_item(end, &item);
}

/*
 * Returns whether end `i` is to be rung. If it begins to arm meanwhile, it looks after that, and
 * finds what this end has published before this call.
 */
static bool wants_bell(struct qv_end *end, uint32_t i)
{
	const struct qv_chan_section *other = end_section(end, i);
	uint64_t armed, generation;

	if (!(end->page.flags & QV_CHAN_ONE_SHOT) && !shared_load(&other->arms))
		return true;
	/*
	 * An end that started again counts from the beginning. Its life word is new before its
	 * section is cleared, so this is the section's own word, which is stored after `armed`
	 */
	generation = shared_load(&other->generation);
	armed = shared_load(&other->armed);
	if (!(armed & 1))
		return false;
	if (armed == end->rung[i] && generation == end->rung_generation[i])
		return false;
	end->rung[i] = armed;
	end->rung_generation[i] = generation;
	return true;
}

bool qv_end_rings(struct qv_end *end)
{
	bool wanted = false;
	uint32_t i;

	if (!(end->page.flags & QV_CHAN_BELL) || !type_of(end))
		return end->page.flags & QV_CHAN_BELL;
	for (i = 0; i < end->page.ends; i++)
		if (i != end->self && wants_bell(end, i))
			wanted = true;
	return wanted;
}

void qv_end_will_arm(struct qv_end *end, bool on)
{
	if (!(end->page.flags & QV_CHAN_BELL) || end->page.flags & QV_CHAN_ONE_SHOT ||
	    !type_of(end) || end->arms == on)
		return;
	end->arms = on;
	/* fenced: the next look finds all that was published by ends that do not see this yet */
	shared_store_fenced(&end_section(end, end->self)->arms, on);
}

void qv_end_arm(struct qv_end *end, bool on)
{
	if (!(end->page.flags & QV_CHAN_ONE_SHOT || end->arms) || (!on && !(end->armed & 1)))
		return;
	end->armed += on ? 1 + (end->armed & 1) : 1;
	/* fenced: the next look finds all that peers published which do not see this yet */
	shared_store_fenced(&end_section(end, end->self)->armed, end->armed);
}

int qv_end_memory(struct qv_end *end, void **data, uint64_t *size, bool *writable)
{
	if (end->page.type != QV_CHAN_MEMORY)
		return QV_CHAN_USAGE;
	*data = end->window + end->page.end[0].offset;
	*size = end->page.item;
	*writable = !end->self || end->page.end[end->self].flags & QV_CHAN_END_WRITES;
	return QV_CHAN_DONE;
}

/* Returns how many items the writer has published, by its own words. */
static uint64_t items_of_writer(const struct qv_end *end)
{
	const struct qv_chan_section *writer = end_section(end, 0);
	uint64_t count = shared_load(&writer->count), slot;

	if (end->page.type != QV_CHAN_FOUR_SLOT)
		return count;
	if (count >= end->page.ends)
		return 0;
	slot = 2 * count + (shared_load(&writer->slot[count]) & 1);
	return shared_load(&end_slot(end, 0, slot)->end);
}

/*
 * Returns how many items of a ring the reader has taken. The count of a reader that is not bound to
 * this life of the writer belongs to another life; it will begin where the writer saw the last.
 */
static uint64_t items_of_reader(const struct qv_end *end)
{
	const struct qv_chan_section *writer = end_section(end, 0), *reader = end_section(end, 1);
	uint64_t bound = shared_load(&reader->bound), count = shared_load(&reader->count);

	return bound == QV_CHAN_GENERATION(end_life(end, 0)) ? count :
	       shared_load(&writer->freed);
}

void qv_end_status(const struct qv_end *end, struct qv_end_status *status)
{
	const struct qv_chan_section *writer = end_section(end, 0), *reader = end_section(end, 1);
	uint64_t life = end_life(end, end->peer);

	__builtin_memset(status, 0, sizeof(*status));
	status->generation = end->generation;
	status->peer_generation = QV_CHAN_GENERATION(life);
	status->peer = (enum qv_chan_state)QV_CHAN_STATE(life);
	if (!type_of(end))
		return;
	status->attached = status->peer_generation &&
		shared_load(&end_section(end, end->peer)->generation) == status->peer_generation;
	status->items = items_of_writer(end);
	if (end->page.type != QV_CHAN_RING)
		return;
	status->waiting = status->items - items_of_reader(end);
	if (status->waiting > end->page.slots)	/* a lapped reader, or a lie */
		status->waiting = end->page.slots;
	status->high = shared_load(&reader->high);
	status->refused = shared_load(&writer->refused);
	writer = end->page.full == QV_CHAN_DROP_NEWEST ? writer : reader;
	status->lost = shared_load(&writer->lost);
}

/* Returns true if a write reports that the peer restarted, which ends the connection */
static bool restart_ends(const struct qv_end *end, uint64_t life)
{
	return end->ended || (!(end->page.flags & QV_CHAN_RECONNECT) && end->peer_generation &&
			      QV_CHAN_GENERATION(life) != end->peer_generation);
}

bool qv_end_full(const struct qv_end *end)
{
	uint64_t life = end_life(end, end->peer);
	unsigned int state = QV_CHAN_STATE(life);

	if (end->page.type != QV_CHAN_RING || end->self || restart_ends(end, life) ||
	    end->page.full == QV_CHAN_DROP_NEWEST || end->page.full == QV_CHAN_DROP_OLDEST ||
	    state == QV_CHAN_IS_STOPPED || state == QV_CHAN_IS_FAILED)
		return false;
	/* more than `slots` items wait only by a wrong count, which the write reports */
	return end->count - end->freed >= end->page.slots &&
	       end->count - items_of_reader(end) == end->page.slots;
}
