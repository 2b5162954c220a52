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

static int bench_cpuid(void)
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
	return 0;
}

int command_bench(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} what[] = {
		{ "cpuid", bench_cpuid }, { "sched", bench_sched }, { "share", bench_share },
		{ "switch", bench_switch }, { "timer", bench_timer },
	};
	unsigned int i;

	for (i = 0; argc == 2 && i < sizeof(what) / sizeof(what[0]); i++)
		if (!strcmp(argv[1], what[i].name))
			return what[i].run();
	return SHELL_SHOW_USAGE;
}
