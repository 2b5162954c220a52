// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include "sporadic.h"

void sporadic_init(struct sporadic *s, uint64_t budget, uint64_t period, uint64_t at)
{
	s->budget = budget;
	s->period = period;
	s->usage = 0;
	s->length = 1;
	s->limit = SPORADIC_MAX;
	s->queue[0] = (struct replenishment){ at, budget };
}

/* Inserts a replenishment behind others of the same time. The queue has room. */
static void insert(struct sporadic *s, uint64_t at, uint64_t amount)
{
	unsigned int i = s->length++;

	for (; i && s->queue[i - 1].at > at; i--)
		s->queue[i] = s->queue[i - 1];
	s->queue[i] = (struct replenishment){ at, amount };
}

static struct replenishment pop(struct sporadic *s)
{
	struct replenishment head = s->queue[0];
	unsigned int i;

	s->length--;
	for (i = 0; i < s->length; i++)
		s->queue[i] = s->queue[i + 1];
	return head;
}

/*
 * Makes the first chunk, of which `usage` is used, usable from `at` on. Merges it with later chunks
 * that are usable at the latest when the rest of the merged chunk would be used up. All in one
 * pass, since interrupts are off.
 */
static void merge(struct sporadic *s, uint64_t at, uint64_t usage)
{
	uint64_t amount = s->queue[0].amount;
	unsigned int i, n;

	for (n = 1; n < s->length && s->queue[n].at <= at + amount - usage; n++)
		amount += s->queue[n].amount;
	s->queue[0] = (struct replenishment){ at, amount };
	s->length -= n - 1;
	for (i = 1; i < s->length; i++)
		s->queue[i] = s->queue[i + n - 1];
}

uint64_t sporadic_eligible(const struct sporadic *s)
{
	return s->queue[0].at;
}

uint64_t sporadic_left(const struct sporadic *s)
{
	return s->queue[0].amount - s->usage;
}

/*
 * Subtracts the whole budget from the usage as often as possible, and moves all chunks by one
 * period each time.
 */
static void skip_whole_budgets(struct sporadic *s)
{
	uint64_t rounds = s->usage / s->budget;
	unsigned int i;

	s->usage -= rounds * s->budget;
	for (i = 0; i < s->length; i++)
		s->queue[i].at += rounds * s->period;
}

/*
 * Charges an overrun to the first chunk, which was not usable yet. Postpones the chunk by the
 * overrun, and merges it with later chunks that it reaches.
 */
static void postpone_head(struct sporadic *s, uint64_t overrun)
{
	merge(s, s->queue[0].at + overrun, 0);
}

uint64_t sporadic_charge(struct sporadic *s, uint64_t delta, uint64_t now)
{
	/* true if this is a later part of an overrun that began before */
	bool early = s->queue[0].at + delta > now;
	uint64_t left = early ? 0 : sporadic_left(s);
	struct replenishment head;

	s->usage += delta;
	if (!early && delta < left)
		return 0;
	if (s->usage < s->queue[0].amount) {
		postpone_head(s, delta);
		return delta;
	}
	if (s->usage >= s->budget)
		skip_whole_budgets(s);
	while (s->queue[0].amount <= s->usage) {
		head = pop(s);
		s->usage -= head.amount;
		insert(s, head.at + s->period, head.amount);
	}
	if (s->usage)
		postpone_head(s, s->usage);
	return delta - left;
}

/*
 * Merges a chunk with its successor, which delays the chunk. Of the chunks behind the first one,
 * chooses the chunk for which amount times delay is smallest.
 */
static void merge_cheapest(struct sporadic *s)
{
	unsigned __int128 cost, least = 0;
	unsigned int i, cheapest = 0;

	for (i = 1; i + 1 < s->length; i++) {
		cost = (unsigned __int128)s->queue[i].amount *
		       (s->queue[i + 1].at - s->queue[i].at);
		if (!cheapest || cost < least) {
			least = cost;
			cheapest = i;
		}
	}
	s->queue[cheapest + 1].amount += s->queue[cheapest].amount;
	s->length--;
	for (i = cheapest; i < s->length; i++)
		s->queue[i] = s->queue[i + 1];
}

void sporadic_block(struct sporadic *s, uint64_t now)
{
	uint64_t at = s->queue[0].at;

	if (!s->usage || at > now)
		return;
	s->queue[0].amount -= s->usage;
	insert(s, at + s->period, s->usage);
	s->usage = 0;
	if (s->length > s->limit)
		merge_cheapest(s);
}

void sporadic_unblock(struct sporadic *s, uint64_t now)
{
	if (s->queue[0].at > now)
		return;
	merge(s, now, s->usage);
}

uint64_t sporadic_settled(const struct sporadic *s)
{
	if (s->usage)
		return s->queue[0].at + s->period;	/* no other chunk is replenished later */
	return s->queue[s->length - 1].at;
}

uint64_t sporadic_outstanding(const struct sporadic *s, uint64_t now)
{
	uint64_t sum = s->queue[0].at > now ? 0 : s->usage;
	unsigned int i;

	for (i = 0; i < s->length; i++)
		if (s->queue[i].at > now)
			sum += s->queue[i].amount;
	return sum;
}

void sporadic_set(struct sporadic *s, uint64_t budget, uint64_t period, uint64_t at)
{
	uint32_t limit = s->limit;

	sporadic_init(s, budget, period, at);
	s->limit = limit;
}

void sporadic_shift(struct sporadic *s, int64_t by)
{
	unsigned int i;

	for (i = 0; i < s->length; i++)
		s->queue[i].at += by;
}
