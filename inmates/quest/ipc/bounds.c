// SPDX-License-Identifier: GPL-2.0-only
#include "bounds.h"

#define COST_BITS	32

/* Sums and products that do not fit are BOUNDS_NEVER. */

static uint64_t sum(uint64_t a, uint64_t b)
{
	uint64_t result;

	return __builtin_add_overflow(a, b, &result) ? BOUNDS_NEVER : result;
}

static uint64_t product(uint64_t a, uint64_t b)
{
	uint64_t result;

	return __builtin_mul_overflow(a, b, &result) ? BOUNDS_NEVER : result;
}

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t budget(const struct bounds_end *end)
{
	return end->set[end->me].budget;
}

static uint64_t period(const struct bounds_end *end)
{
	return end->set[end->me].period;
}

uint64_t bounds_demand(const struct bounds_end *end, uint64_t bytes)
{
	unsigned __int128 demand = (unsigned __int128)bytes * end->cost + BOUNDS_COST_UNIT - 1;

	return demand >> COST_BITS > BOUNDS_NEVER ? BOUNDS_NEVER : demand >> COST_BITS;
}

uint64_t bounds_spread(const struct bounds_end *end, uint64_t demand)
{
	if (demand == BOUNDS_NEVER)
		return BOUNDS_NEVER;
	return sum(product(demand / budget(end), period(end)), demand % budget(end));
}

uint64_t bounds_send(const struct bounds_end *sender, uint64_t bytes)
{
	return bounds_spread(sender, bounds_demand(sender, bytes));
}

/* Returns the receiver's CPU time for one slot each way, [N + M] * delta + K. */
static uint64_t service_demand(const struct bounds_end *receiver, uint64_t bytes, uint64_t reply,
			       uint64_t service)
{
	return sum(sum(bounds_demand(receiver, bytes), bounds_demand(receiver, reply)), service);
}

uint64_t bounds_serve(const struct bounds_end *receiver, const struct bounds_message *m)
{
	return bounds_spread(receiver, service_demand(receiver, m->bytes, m->reply, m->service));
}

static uint64_t wait_paper(const struct bounds_end *end, uint64_t demand)
{
	return sum(bounds_spread(end, demand), period(end) - budget(end));
}

/*
 * The demand is k * C + r. Returns what both rules have in common, k * T + T - C and the terms of
 * the end, and stores r. A demand of 0 counts as 1, since the thread must run to serve it.
 */
static uint64_t wait_common(const struct bounds_end *end, uint64_t demand, uint64_t *rest)
{
	uint64_t k = (demand ? demand - 1 : 0) / budget(end), wait;

	*rest = demand ? demand - k * budget(end) : 1;
	wait = sum(product(k, period(end)), period(end) - (end->merged ? 0 : budget(end)));
	return sum(wait, end->wake);
}

static uint64_t wait_response(const struct bounds_end *end, uint64_t demand)
{
	uint64_t rest, wait = wait_common(end, demand, &rest);

	if (admission_response(end->set, end->n, end->me) == UINT64_MAX)
		return BOUNDS_NEVER;
	return sum(wait, admission_response_to(end->set, end->n, end->me, rest));
}

static uint64_t wait_admitted(const struct bounds_end *end, uint64_t demand)
{
	uint64_t rest, wait = wait_common(end, demand, &rest);

	return sum(wait, period(end) - budget(end) + rest);
}

uint64_t bounds_wait(enum bounds_rule rule, const struct bounds_end *end, uint64_t demand)
{
	static uint64_t (*const waits[BOUNDS_RULES])(const struct bounds_end *, uint64_t) = {
		[BOUNDS_PAPER] = wait_paper,
		[BOUNDS_RESPONSE] = wait_response,
		[BOUNDS_ADMITTED] = wait_admitted,
	};

	return demand == BOUNDS_NEVER ? BOUNDS_NEVER : waits[rule](end, demand);
}

/* Returns the number of slots that carry `bytes`. An empty message takes a slot, too. */
static uint64_t slots(uint64_t bytes, uint64_t slot)
{
	return bytes ? bytes / slot + (bytes % slot != 0) : 1;
}

uint64_t bounds_round_trip(enum bounds_rule rule, const struct bounds_end *sender,
			   const struct bounds_end *receiver, const struct bounds_message *m)
{
	uint64_t bytes = min(m->bytes, m->slot), reply = min(m->reply, m->slot);
	uint64_t there = slots(m->bytes, m->slot), back = slots(m->reply, m->slot), one;

	one = bounds_wait(rule, sender, bounds_demand(sender, bytes));
	one = sum(one, bounds_wait(rule, receiver,
				   service_demand(receiver, bytes, reply, m->service)));
	one = sum(one, bounds_wait(rule, sender, bounds_demand(sender, reply)));
	return product(there > back ? there : back, one);
}

uint64_t bounds_one_way(enum bounds_rule rule, const struct bounds_end *sender,
			const struct bounds_end *receiver, const struct bounds_message *m)
{
	uint64_t bytes = min(m->bytes, m->slot), one;

	one = bounds_wait(rule, sender, bounds_demand(sender, bytes));
	one = sum(one, bounds_wait(rule, receiver, service_demand(receiver, bytes, 0, m->service)));
	return product(slots(m->bytes, m->slot), one);
}

uint64_t bounds_migration(enum bounds_rule rule, const struct bounds_end *source, uint64_t pack,
			  uint64_t transfer, const struct bounds_end *destination, uint64_t unpack)
{
	return sum(sum(bounds_wait(rule, source, pack), transfer),
		   bounds_wait(rule, destination, unpack));
}
