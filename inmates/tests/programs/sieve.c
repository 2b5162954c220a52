// SPDX-License-Identifier: GPL-2.0-only
/*
 * sieve SECONDS AT [relax|strict|stay] [KIB]: counts the prime numbers up to 2500 again and again,
 * as in the Quest-V papers, and moves to another cell (moving.h), on a VCPU of 10 ms in 100 ms. The
 * result is their number.
 */
#include <quest.h>
#include "moving.h"

#define MOST		2500

static int count_primes(void)
{
	int n, d, found = 0;

	for (n = 2; n <= MOST; n++) {
		for (d = 2; d * d <= n && n % d; d++)
			;
		found += d * d > n;
	}
	return found;
}

int main(int argc, char **argv)
{
	struct sched_param vcpu = { .C = 10, .T = 100 };

	if (sched_setparam(-1, &vcpu) < 0) {
		perror("sieve");
		return 1;
	}
	return move_while("sieve", count_primes, argc, argv);
}
