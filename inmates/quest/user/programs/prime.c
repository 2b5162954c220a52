// SPDX-License-Identifier: GPL-2.0-only
/* prime [LIMIT]: counts the primes below LIMIT (default 100000), by division. */
#include <quest.h>
#include <stdio.h>
#include <stdlib.h>

static int is_prime(long n)
{
	long d;

	for (d = 2; d * d <= n; d++)
		if (n % d == 0)
			return 0;
	return n > 1;
}

int main(int argc, char **argv)
{
	long limit = argc > 1 ? atol(argv[1]) : 100000, n, count = 0;
	struct tms used;

	for (n = 0; n < limit; n++)
		count += is_prime(n);
	(void)times(&used);
	printf("prime: %ld primes below %ld, %ld us of CPU\n", count, limit, used.tms_utime);
	return 0;
}
