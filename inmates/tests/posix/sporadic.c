// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests only, instead of sched/sporadic.c: the sporadic server as POSIX defines it. Budget used
 * between the activation and blocking (or the end of the budget) is replenished as one chunk, a
 * period after the activation. Budget that is replenished meanwhile is used as if it had always
 * been available. This is the defect that schedule (B) of figure 4.3 shows.
 *
 * The queue holds the budget that will be replenished. queue[0] is the current budget, and its time
 * is the activation. Without a current budget, queue[0] is the next replenishment.
 */
#include "sporadic.h"

void sporadic_init(struct sporadic *s, uint64_t budget, uint64_t period, uint64_t at)
{
	*s = (struct sporadic){
		.budget = budget, .period = period, .length = 1, .limit = SPORADIC_MAX
	};
	s->queue[0] = (struct replenishment){ at, budget };
}

static void insert(struct sporadic *s, uint64_t at, uint64_t amount)
{
	unsigned int i = s->length++;

	for (; i > 1 && s->queue[i - 1].at > at; i--)
		s->queue[i] = s->queue[i - 1];
	s->queue[i] = (struct replenishment){ at, amount };
}

static void drop(struct sporadic *s, unsigned int i)
{
	s->length--;
	for (; i < s->length; i++)
		s->queue[i] = s->queue[i + 1];
}

/* Adds the chunks that became due meanwhile to the current budget. */
static void refill(struct sporadic *s, uint64_t now)
{
	while (s->length > 1 && s->queue[1].at <= now) {
		s->queue[0].amount += s->queue[1].amount;
		drop(s, 1);
	}
}

static void post(struct sporadic *s)
{
	uint64_t at = s->queue[0].at + s->period, used = s->usage;

	if (!used)
		return;
	s->queue[0].amount -= used;
	s->usage = 0;
	insert(s, at, used);
	if (!s->queue[0].amount)
		drop(s, 0);
}

uint64_t sporadic_eligible(const struct sporadic *s)
{
	return s->queue[0].at;
}

uint64_t sporadic_left(const struct sporadic *s)
{
	return s->queue[0].amount - s->usage;
}

uint64_t sporadic_charge(struct sporadic *s, uint64_t delta, uint64_t now)
{
	uint64_t left;

	refill(s, now);
	left = sporadic_left(s);
	/* an overrun is not charged, which is another defect of POSIX's wording */
	s->usage += delta < left ? delta : left;
	if (delta >= left)
		post(s);
	return delta > left ? delta - left : 0;
}

void sporadic_block(struct sporadic *s, uint64_t now)
{
	refill(s, now);
	post(s);
}

void sporadic_unblock(struct sporadic *s, uint64_t now)
{
	if (s->queue[0].at > now)
		return;
	refill(s, now);
	s->queue[0].at = now;
}

uint64_t sporadic_settled(const struct sporadic *s)
{
	return s->queue[s->length - 1].at;
}

uint64_t sporadic_outstanding(const struct sporadic *s, uint64_t now)
{
	(void)now;
	return s->budget;
}

void sporadic_set(struct sporadic *s, uint64_t budget, uint64_t period, uint64_t at)
{
	sporadic_init(s, budget, period, at);
}

void sporadic_shift(struct sporadic *s, int64_t by)
{
	unsigned int i;

	for (i = 0; i < s->length; i++)
		s->queue[i].at += by;
}
