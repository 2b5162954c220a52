// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include "shell.h"

#define ROUNDS	1000

static uint64_t cpuid_once(void)
{
	uint64_t begin = rdtsc_ordered();

	(void)cpuid(0, 0);
	return rdtsc_ordered() - begin;
}

static void bench_cpuid(void)
{
	uint64_t least = UINT64_MAX, sum = 0, took;
	bool irqs;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		irqs = irq_save();
		took = cpuid_once();
		irq_restore(irqs);
		sum += took;
		if (took < least)
			least = took;
	}
	print("cpuid rounds=%d mean=%lu cycles=%lu\n", ROUNDS, sum / ROUNDS, least);
}

void command_bench(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "cpuid"))
		bench_cpuid();
	else if (argc == 2 && !strcmp(argv[1], "sched"))
		bench_sched();
	else if (argc == 2 && !strcmp(argv[1], "share"))
		bench_share();
	else if (argc == 2 && !strcmp(argv[1], "switch"))
		bench_switch();
	else if (argc == 2 && !strcmp(argv[1], "timer"))
		bench_timer();
	else
		shell_usage(argv);
}
