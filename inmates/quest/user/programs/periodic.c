// SPDX-License-Identifier: GPL-2.0-only
/* Does its work every 10 ms, without drift. */
#include <quest.h>
#include <stdio.h>

int main(void)
{
	struct timespec start, next, now;
	int vcpu = vcpu_create_main(1, 10), turn;

	if (vcpu < 0) {
		perror_of("vcpu_create_main", vcpu);
		return 1;
	}
	vcpu_bind_task(vcpu);
	clock_gettime(CLOCK_MONOTONIC, &start);
	next = start;
	for (turn = 0; turn < 100; turn++) {
		next.tv_nsec += 10 * 1000 * 1000;
		if (next.tv_nsec >= 1000 * 1000 * 1000) {
			next.tv_nsec -= 1000 * 1000 * 1000;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		/* the work: 1 ms of it is guaranteed in each period */
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%d periods of 10 ms took %ld ms\n", turn,
	       (now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / (1000 * 1000));
	return 0;
}
