// SPDX-License-Identifier: GPL-2.0-only
/*
 * budget PERIODS [MS]: uses all budget of its VCPU, and prints the CPU time in us that it got in
 * each of these periods, as least, mean and most, and how often it was behind by more than a tenth
 * of C at the end of one. It begins MS after a multiple of its period.
 */
#include "exchange.h"

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t periods = argc > 1 ? strtoul(argv[1], NULL, 10) : 0, begin, used, got, n;
	uint64_t least = UINT64_MAX, most = 0, sum = 0, lost = 0, c, t;
	int64_t ahead = 0;
	struct sched_param vcpu;
	volatile int i;

	if (!periods || vcpu_getparams(&vcpu) < 0)
		return 1;
	c = (uint64_t)vcpu.C * (vcpu.unit == VCPU_US ? 1000 : 1000000);
	t = (uint64_t)vcpu.T * (vcpu.unit == VCPU_US ? 1000 : 1000000);
	align_after(t / 1000, argc > 2 ? strtoul(argv[2], NULL, 10) * 1000 : 0);
	begin = now_ns();
	used = cpu_ns();
	for (n = 1; n <= periods; n++) {
		/* it has budget at the begin of each period, and then looks at the clock */
		do {
			for (i = 0; i < STEPS; i++)
				;
			pause_cpu();
		} while (now_ns() < begin + n * t);
		got = cpu_ns() - used;
		used += got;
		least = got < least ? got : least;
		most = got > most ? got : most;
		sum += got;
		/* a late look finds CPU time of the next period, which the next look then lacks */
		ahead += (int64_t)(got - c);
		if (ahead < -(int64_t)(c / 10)) {
			lost++;
			ahead = 0;
		}
	}
	printf("budget: %lu periods, us: least %lu, mean %lu,\nmost %lu, C %lu; %lu lost\n",
	       periods, least / 1000, sum / periods / 1000, most / 1000, c / 1000, lost);
	return lost != 0;
}
