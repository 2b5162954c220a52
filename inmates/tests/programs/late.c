// SPDX-License-Identifier: GPL-2.0-only
/*
 * late SECONDS: sleeps for short random times, and prints how often, and how much later than asked
 * it ran, in ns: the mean and the most. For a VCPU that no other preempts, this is the time in
 * which the kernel cannot be preempted, and the cost of a call.
 */
#include "exchange.h"

#define LEAST_US	100
#define SPREAD_US	200

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
	}
	printf("late: %lu wake-ups, mean %lu, most %lu ns\n", n, sum / n, most);
	return 0;
}
