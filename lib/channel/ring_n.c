// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Several items of a ring in one call */
#include <stddef.h>
#include "internal.h"

#define MOST	0x7fffffffu	/* items that a call can return */

static struct qv_chan_slot *batch_slot(const struct qv_end *end, uint64_t i)
{
	return end_slot(end, 0, (end->count + i) & (end->page.slots - 1));
}

static bool batch_wrong(const struct qv_end *end, uint32_t self, uint32_t n)
{
	return end->page.type != QV_CHAN_RING || end->self != self || !n || n > MOST;
}

int qv_end_claim_n(struct qv_end *end, uint32_t n)
{
	uint64_t room = end->page.slots, i;
	int result;

	if (batch_wrong(end, 0, n))
		return QV_CHAN_USAGE;
	if (end->claimed)
		return (int)end->more + 1;
	end->more = (n < room ? n : room) - 1;
	result = end_ring.claim(end);
	if (result) {
		end->more = 0;
		return result;
	}
	if (end->page.full != QV_CHAN_DROP_OLDEST)
		room -= end->count - end->freed;
	if (end->more >= room)
		end->more = room - 1;
	for (i = 0; i <= end->more; i++)
		shared_store(&batch_slot(end, i)->begin, end->number + i);
	shared_barrier();
	end->claimed = true;
	return (int)end->more + 1;
}

void *qv_end_claimed(const struct qv_end *end, uint32_t i)
{
	return end->claimed && end->page.type == QV_CHAN_RING && i <= end->more ?
	       batch_slot(end, i) + 1 : NULL;
}

int qv_end_commit_n(struct qv_end *end, uint32_t n)
{
	uint32_t i;

	if (batch_wrong(end, 0, n) || !end->claimed || n > end->more + 1)
		return QV_CHAN_USAGE;
	shared_barrier();
	for (i = 0; i < n; i++)
		shared_store(&batch_slot(end, i)->end, end->number + i);
	end_publish(end, &end_section(end, 0)->count, end->count += n);
	end->claimed = false;
	end->more = 0;
	return QV_CHAN_DONE;
}

/*
 * Looks at the items after the first. Those of a ring that drops the oldest have the number of
 * their place; else the writer may overwrite them, and only those before are taken.
 */
static int batch_find(struct qv_end *end)
{
	bool oldest = end->page.full == QV_CHAN_DROP_OLDEST;
	uint64_t number, i;

	for (i = 1; i <= end->more; i++) {
		number = shared_load(&batch_slot(end, i)->end);
		if (oldest && number != end->count + i + 1) {
			end->more = i - 1;
			break;
		}
		if (number <= end->number)
			return QV_CHAN_CORRUPT;
		end->number = number;
	}
	return QV_CHAN_DONE;
}

int qv_end_peek_n(struct qv_end *end, uint32_t n)
{
	uint64_t slots = end->page.slots;
	int result;

	if (batch_wrong(end, 1, n))
		return QV_CHAN_USAGE;
	if (end->peeked) {
		result = end_bound(end);
		return result ? result : (int)end->more + 1;
	}
	end->more = (n < slots ? n : slots) - 1;
	result = end_find_item(end, false);
	if (!result && end->more >= end->seen - end->count)
		end->more = end->seen - end->count - 1;
	if (!result)
		result = batch_find(end);
	if (result) {
		end->more = 0;
		return result == QV_CHAN_CORRUPT ? end_conclude(end, result) : result;
	}
	end->peeked = true;
	shared_barrier();
	return (int)end->more + 1;
}

const void *qv_end_peeked(const struct qv_end *end, uint32_t i, struct qv_item *item)
{
	struct qv_chan_slot *slot = batch_slot(end, i);
	uint64_t before;

	if (!end->peeked || end->page.type != QV_CHAN_RING || i > end->more)
		return NULL;
	if (item) {
		before = i ? shared_load(&batch_slot(end, i - 1)->end) : end->last;
		item->number = shared_load(&slot->end);
		item->bytes = end->page.item;
		item->lost = before && item->number > before ? item->number - before - 1 : 0;
	}
	return slot + 1;
}

/*
 * Returns whether the first `n` items are those that were found. An honest writer has stored
 * another number in `begin` before it overwrites an item. Sets *first and *number to those of the
 * first and the last.
 */
static int batch_intact(struct qv_end *end, uint32_t n, uint64_t *first, uint64_t *number)
{
	bool oldest = end->page.full == QV_CHAN_DROP_OLDEST;
	uint64_t before = end->last, i;

	for (i = 0; i < n; i++, before = *number) {
		*number = shared_load(&batch_slot(end, i)->begin);
		if (!i)
			*first = *number;
		if (oldest && *number != end->count + i + 1)
			return QV_CHAN_LAPPED;
		if (*number <= before || (i == end->more && *number != end->number))
			return QV_CHAN_CORRUPT;
	}
	return QV_CHAN_DONE;
}

int qv_end_release_n(struct qv_end *end, uint32_t n)
{
	struct qv_item item = { 0 };
	uint64_t first, number;
	int result;

	if (batch_wrong(end, 1, n) || !end->peeked || n > end->more + 1)
		return QV_CHAN_USAGE;
	shared_barrier();
	result = end_conclude(end, batch_intact(end, n, &first, &number));
	end->peeked = false;
	end->more = 0;
	if (result == QV_CHAN_LAPPED)
		end->count++;		/* the next look continues after it */
	if (result)
		return result;
	/* where this end began, no item before the first is known to be lost */
	item.lost = number - (end->last ? end->last : first - 1) - n;
	end->number = number;
	end->count += n - 1;
	end_ring.taken(end, &item);
	end->last = number;
	return QV_CHAN_DONE;
}
