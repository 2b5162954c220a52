// SPDX-License-Identifier: GPL-2.0-only
/*
 * duty [MS]: a component that another cell takes over. It beats, counts and saves its count each
 * ms. At a start it prints its count, and how many cycles of the TSC ago the count was saved. With
 * MS it crashes after so many ms.
 */
#include <quest.h>
#include <stdio.h>
#include <stdlib.h>
#include <x86intrin.h>

static struct { uint64_t count, tsc, spare[512]; } state;

int main(int argc, char **argv)
{
	uint64_t end = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;

	if (recovery_resume(&state, sizeof(state)) > 0)
		printf("duty resumes at %lu after %lu cycles\n", state.count,
		       (uint64_t)__rdtsc() - state.tsc);
	else
		printf("duty begins\n");
	for (end += state.count;;) {
		(void)recovery_beat();
		state.count++;
		state.tsc = __rdtsc();
		if (recovery_save(&state, sizeof(state)) < 0)
			printf("duty: not saved\n");
		if (argc > 1 && state.count >= end)
			abort();
		(void)usleep(1000);
	}
}
