// SPDX-License-Identifier: GPL-2.0-only
/*
 * spinner [MS]: keeps its VCPU busy for MS milliseconds, or without MS until it is killed (by ^C or
 * kill).
 */
#include <quest.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	long ms = argc > 1 ? atol(argv[1]) : 0;
	struct timeval begin, now;
	struct tms used;

	(void)gettimeofday(&begin, NULL);
	do
		(void)gettimeofday(&now, NULL);
	while (!ms ||
	       (now.tv_sec - begin.tv_sec) * 1000 + (now.tv_usec - begin.tv_usec) / 1000 < ms);
	(void)times(&used);
	printf("spinner: %ld ms, %ld us of CPU\n", ms, used.tms_utime);
	return 0;
}
