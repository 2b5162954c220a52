// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Simpson's four-slot for up to eight readers: as many pairs of slots as ends, so there is always a
 * pair that no reader names. The writer keeps to the pair that it wrote last while no reader reads
 * it. With one reader these are Simpson's four slots and his choice of the pair.
 */
#include "internal.h"

static int fourslot_attach(struct qv_end *end, bool fresh)
{
	struct qv_chan_section *own = end_section(end, end->self);
	uint32_t pair, i;

	if (fresh || end->self)
		return QV_CHAN_DONE;
	end->count = shared_load(&own->count);
	if (end->count >= end->page.ends)
		return QV_CHAN_OWN_SECTION;
	for (pair = 0; pair < end->page.ends; pair++) {
		end->chosen[pair] = shared_load(&own->slot[pair]);
		if (end->chosen[pair] > 1)
			return QV_CHAN_OWN_SECTION;
		for (i = 0; i < 2; i++) {
			uint64_t number = shared_load(&end_slot(end, 0, 2 * pair + i)->end);

			if (number > end->last)
				end->last = number;
		}
	}
	return QV_CHAN_DONE;
}

static int fourslot_bind(struct qv_end *end)
{
	end->last = 0;
	return QV_CHAN_DONE;
}

/* Returns the pairs that readers name. A reader that lies about its pair harms itself only. */
static uint64_t pairs_in_use(const struct qv_end *end)
{
	uint64_t used = 0, pair;
	uint32_t reader;

	for (reader = 1; reader < end->page.ends; reader++) {
		pair = shared_load(&end_section(end, reader)->count);
		if (pair < end->page.ends)
			used |= 1ull << pair;
	}
	return used;
}

static int fourslot_claim(struct qv_end *end)
{
	uint64_t used = pairs_in_use(end), pair = end->count;

	if (used >> pair & 1)
		for (pair = 0; used >> pair & 1; pair++)
			;	/* ends at a pair: there are fewer readers than pairs */
	end->place = 2 * pair + !end->chosen[pair];
	end->number = end->last + 1;
	return QV_CHAN_DONE;
}

static void fourslot_publish(struct qv_end *end, uint64_t size)
{
	struct qv_chan_section *own = end_section(end, 0);
	uint64_t pair = end->place >> 1;

	(void)size;
	end->chosen[pair] = end->place & 1;
	end->last = end->number;
	end->count = pair;
	shared_store(&own->slot[pair], end->chosen[pair]);
	/* fenced: the next claim must not load the readers' words before this store is complete */
	shared_store_fenced(&own->count, end->count);
}

static int fourslot_find(struct qv_end *end, bool again)
{
	struct qv_chan_section *own = end_section(end, end->self), *writer = end_section(end, 0);
	uint64_t pair = shared_load(&writer->count), slot, number;

	if (pair >= end->page.ends)
		return QV_CHAN_CORRUPT;
	/* fenced: the writer must see the pair before this end looks for its newer slot */
	shared_store_fenced(&own->count, pair);
	slot = shared_load(&writer->slot[pair]);
	if (slot > 1)
		return QV_CHAN_CORRUPT;
	end->place = 2 * pair + slot;
	number = shared_load(&end_slot(end, 0, end->place)->end);
	if (!number || (number <= end->last && !again))
		return end_reason(end, QV_CHAN_NOTHING);
	end->number = number;
	end->bytes = end->page.item;
	return QV_CHAN_DONE;
}

static void fourslot_taken(struct qv_end *end, struct qv_item *item)
{
	(void)item;
	shared_store(&end_section(end, end->self)->last, end->number);
}

const struct end_type end_four_slot = {
	.attach = fourslot_attach, .bind = fourslot_bind, .claim = fourslot_claim,
	.publish = fourslot_publish, .find = fourslot_find, .taken = fourslot_taken,
};
