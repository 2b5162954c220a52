// SPDX-License-Identifier: GPL-2.0-only
/*
 * late SECONDS: sleeps for short random times, and prints how often, and how much later than asked
 * it ran: the mean and the most in ns, and the us that 999 of 1000 did not exceed. For a VCPU that
 * no other preempts, this is the time in which the kernel cannot be preempted, and the cost of a
 * call.
 */
#include "exchange.h"

#define LEAST_US	100
#define SPREAD_US	200
#define MOST_US		1000

static uint64_t counts[MOST_US + 1];	/* wake-ups that are so many us late, rounded up */

/* Returns the us that all but `rest` wake-ups do not exceed. */
static uint64_t limit(uint64_t rest)
{
	uint64_t us = MOST_US, more = 0;

	while (us && more + counts[us] <= rest)
		more += counts[us--];
	return us;
}

int main(int argc, char **argv)
{
	uint64_t seconds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0, seed = 1, n = 0;
	uint64_t end, asked, began, late, sum = 0, most = 0;

	if (!seconds)
		return 1;
	for (end = cycles() + seconds * TSC_HZ; cycles() < end; n++) {
		asked = LEAST_US + random_below(&seed, SPREAD_US);
		began = cycles();
		usleep((useconds_t)asked);
		late = cycles() - began - asked * (TSC_HZ / 1000000);
		sum += late;
		most = late > most ? late : most;
		late = (late + 999) / 1000;
		counts[late < MOST_US ? late : MOST_US]++;
	}
	printf("late: %lu wake-ups, mean %lu, most %lu ns, %lu us\n", n, sum / n, most,
	       limit(n / 1000));
	return 0;
}
