// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include "admission.h"
#include "bounds.h"

#define ONE		(1ull << 62)
#define BOUNDS		(sizeof(bounds) / sizeof(bounds[0]))
/* limit for the steps of the iteration for one response time; a VCPU that needs more is rejected */
#define ROUNDS		256

/* Returns part / whole in units of 2^-62, rounded up. */
static uint64_t share(uint64_t part, uint64_t whole)
{
	return (((unsigned __int128)part << 62) + whole - 1) / whole;
}

/* (2 - U) * U = (2T - C) * C / T^2, in two steps that both round up. */
static uint64_t io_share(uint64_t budget, uint64_t period)
{
	uint64_t u = share(budget, period);

	return ((unsigned __int128)u * (2 * period - budget) + period - 1) / period;
}

uint64_t admission_load(const struct admission_entry *set, unsigned int n)
{
	uint64_t sum = 0, term;
	unsigned int i;

	for (i = 0; i < n && sum <= ONE; i++) {
		term = set[i].io ? io_share(set[i].budget, set[i].period) :
		       share(set[i].budget, set[i].period);
		sum += term;
	}
	return sum;
}

uint64_t admission_limit(const struct admission_entry *set, unsigned int n)
{
	unsigned int i, mains = 0;

	for (i = 0; i < n; i++)
		mains += !set[i].io;
	return mains < BOUNDS ? bounds[mains] : 0;
}

bool admission_bound(const struct admission_entry *set, unsigned int n)
{
	return admission_load(set, n) <= admission_limit(set, n);
}

/*
 * Returns factor * (1 + part), in units of 2^-62, rounded up. If the product is above 2, returns
 * any number above 2. `part` is at most 2.
 */
static uint64_t times(uint64_t factor, uint64_t part)
{
	unsigned __int128 product = ((unsigned __int128)factor * (ONE + part) + ONE - 1) >> 62;

	return product > 2 * ONE ? 2 * ONE + 1 : product;
}

static bool hyperbolic_bound(const struct admission_entry *set, unsigned int existing,
			     unsigned int n)
{
	uint64_t product = ONE, io = 0, least = UINT64_MAX, term;
	unsigned int i;

	for (i = 0; i < n && io <= ONE; i++) {
		term = set[i].io ? io_share(set[i].budget, set[i].period) :
		       share(set[i].budget, set[i].period);
		if (set[i].io) {
			io += term;
		} else if (i < existing && term < least) {
			product = least == UINT64_MAX ? product : times(product, least);
			least = term;
		} else {
			product = times(product, term);
		}
	}
	return io <= ONE && times(product, io + (least == UINT64_MAX ? 0 : least)) <= 2 * ONE;
}

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

/* Returns whether Main VCPU `j` may preempt `i`. Assumes that it may if the periods are equal. */
static bool precedes(const struct admission_entry *set, unsigned int j, unsigned int i)
{
	return j != i && !set[j].io && set[j].period <= set[i].period;
}

/*
 * Returns the CPU time that I/O VCPU `io` takes within `t` while it runs at the priority of
 * `period`: (1 + ceil((t - T*U) / T)) * T*U.
 */
static uint64_t io_interference(const struct admission_entry *io, uint64_t period, uint64_t t)
{
	uint64_t amount = ((unsigned __int128)period * io->budget + io->period - 1) / io->period;

	return (1 + (t > amount ? ceil_div(t - amount, period) : 0)) * amount;
}

/*
 * Returns the most CPU time that `io` takes from `i`. It may work for `i`, for any Main VCPU that
 * precedes `i`, or at its own period if that is not longer.
 */
static uint64_t io_worst(const struct admission_entry *set, unsigned int n, unsigned int i,
			 const struct admission_entry *io, uint64_t t)
{
	uint64_t most = io_interference(io, set[i].period, t), one;
	unsigned int q;

	if (io->period <= set[i].period) {
		one = io_interference(io, io->period, t);
		if (one > most)
			most = one;
	}
	for (q = 0; q < n; q++) {
		if (!precedes(set, q, i))
			continue;
		one = io_interference(io, set[q].period, t);
		if (one > most)
			most = one;
	}
	return most;
}

/*
 * Returns the time until `i` has run for `amount`, if all VCPUs that may preempt it within `t` do
 * so. Stops adding when the sum exceeds the period of `i`.
 */
static uint64_t demand(const struct admission_entry *set, unsigned int n, unsigned int i,
		       uint64_t amount, uint64_t t)
{
	uint64_t sum = amount;
	unsigned int j;

	for (j = 0; j < n && sum <= set[i].period; j++) {
		if (set[j].io)
			sum += io_worst(set, n, i, &set[j], t);
		else if (precedes(set, j, i))
			sum += ceil_div(t, set[j].period) * set[j].budget;
	}
	return sum;
}

uint64_t admission_response_to(const struct admission_entry *set, unsigned int n, unsigned int i,
			       uint64_t amount)
{
	uint64_t t = amount, next;
	unsigned int round;

	for (round = 0; round < ROUNDS; round++) {
		next = demand(set, n, i, amount, t);
		if (next > set[i].period)
			return UINT64_MAX;
		if (next == t)
			return t;
		t = next;
	}
	return UINT64_MAX;
}

uint64_t admission_response(const struct admission_entry *set, unsigned int n, unsigned int i)
{
	return admission_response_to(set, n, i, set[i].budget);
}

/* Returns whether the Main VCPUs of the first `existing` entries meet their periods. */
static bool in_time(const struct admission_entry *set, unsigned int existing, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < existing; i++)
		if (!set[i].io && admission_response(set, n, i) == UINT64_MAX)
			return false;
	return true;
}

bool admission_exact(const struct admission_entry *set, unsigned int n)
{
	return in_time(set, n, n);
}

bool admission_admits(enum admission_test test, const struct admission_entry *set, unsigned int n)
{
	return test == ADMISSION_EXACT ? admission_exact(set, n) : admission_bound(set, n);
}

bool admission_with_past(enum admission_test test, const struct admission_entry *set,
		      unsigned int existing, unsigned int n)
{
	return test == ADMISSION_EXACT ? in_time(set, existing, n) :
	       hyperbolic_bound(set, existing, n);
}
