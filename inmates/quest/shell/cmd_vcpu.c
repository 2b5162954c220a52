// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/string.h>
#include <inmate/timer.h>
#include "../kernel/dispatch.h"
#include "../kernel/machine.h"
#include "../kernel/vcpu/vcpu.h"
#include "shell.h"

/*
 * Prints milliseconds with three decimals in a field of `width`. Rounds the value, since a
 * microsecond may not be a whole number of cycles.
 */
static void print_ms(int width, uint64_t cycles)
{
	uint64_t us = timer_to_us(cycles + timer_from_us(1) / 2);

	print("%*lu.%03lu", width - 4, us / 1000, us % 1000);
}

static uint64_t per_mille(uint64_t part, uint64_t whole)
{
	return whole >= 1000 ? part / (whole / 1000) : 0;
}

static void print_use(int id, const struct vcpu *v, uint64_t now)
{
	static const char *const types[] = {
		[MAIN_VCPU] = "main", [IO_VCPU] = "I/O", [BACKGROUND_VCPU] = "none" };
	uint64_t util = per_mille(v->counts.used, now - v->counts.created);
	uint64_t period = v->params.type == BACKGROUND_VCPU ? 0 : vcpu_period(v),
		 budget = v->params.budget;

	if (v->params.type == IO_VCPU)
		budget = (unsigned __int128)period * budget / v->params.period;
	print("%3d %-15s %-4s", id, v->params.name, types[v->params.type]);
	print_ms(9, budget);
	print_ms(9, period);
	print_ms(12, v->counts.used);
	print_ms(12, v->counts.background);
	print(" %3lu.%lu", util / 10, util % 10);
	if (v->params.type != BACKGROUND_VCPU && !v->counts.used && vcpu_eligible(v) > now)
		print(" begins in %lu ms", timer_to_us(vcpu_eligible(v) - now) / 1000 + 1);
	print("\n");
}

static void print_counts(int id, const struct vcpu *v, uint64_t now)
{
	const struct vcpu_counts *c = &v->counts;

	(void)now;
	print("%3d %-15s %5u %8lu %7lu %6lu %6lu", id, v->params.name, vcpu_replenishments(v),
	      c->depleted, c->overruns,
	      timer_to_us(c->overrun_max), c->interrupts);
	print_ms(9, c->interrupt_time);
	print("\n");
}

/* Prints the scheduler's share of the time since start. */
static void print_overhead(void)
{
	struct dispatch_cost cost = dispatch_cost();
	uint64_t us = timer_to_us(cost.cycles),
		 share = per_mille(cost.cycles * 10, rdtsc() - machine.boot_tsc);

	print("scheduling: %lu decisions, %lu.%03lu ms, %lu.%02lu %% of the time\n", cost.decisions,
	      us / 1000, us % 1000,
	      share / 100, share % 100);
}

/* Prints two tables, since the screen has only 80 columns. */
static void print_table(const char *head, void (*row)(int id, const struct vcpu *v, uint64_t now))
{
	/* static because it is too large for a stack; only one shell calls this */
	static struct vcpu v;
	uint64_t now = rdtsc();
	int id;

	print("%s", head);
	for (id = 0; id < SCHED_VCPUS; id++)
		if (vcpu_snapshot(id, &v))
			row(id, &v, now);
}

int command_vcpus(int argc, char **argv)
{
	if (argc == 1)
		print_table(" ID NAME            TYPE    C ms     T ms"
			    "     USED ms  BACKGND ms UTIL%\n",
			    print_use);
	else if (argc == 2 && !strcmp(argv[1], "counts"))
		print_table(" ID NAME            QUEUE DEPLETED OVERRUN MAX us   IRQS   IRQ ms\n",
			    print_counts);
	else
		return SHELL_SHOW_USAGE;
	if (argc == 1)
		print_overhead();
	return 0;
}
