// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "../kernel/machine.h"
#include "component.h"
#include "detector.h"
#include "outage.h"
#include "recovery.h"
#include "replica.h"

static void print_component(unsigned int n)
{
	static const char *const states[] = { "down", "runs", "ended", "moved", "lost",
						"standby" };
	const struct component *c = &components[n];

	print("%-15s %-7s %4d %-15s %6u %6u %8lu\n", c->rule->name, states[c->state], c->pid,
	      c->program, c->starts, c->faults, timer_to_us(c->longest));
}

static void print_detectors(void)
{
	struct detector copy;
	bool irqs;
	int d;

	print("DETECTOR     BOUND   LATEST  FOUND      LOOKS   COST\n");
	for (d = 0; d < DETECTORS; d++) {
		irqs = irq_save();
		copy = detectors[d];
		irq_restore(irqs);
		if (copy.looks)
			print("%-9s %8lu %8lu %6lu %10lu %6lu\n", copy.name,
			      timer_to_us(recovery_bound()), timer_to_us(copy.latest), copy.found,
			      copy.looks, copy.cycles / copy.looks);
	}
}

static void print_phase(uint64_t at, uint64_t since)
{
	if (at)
		print(" %8lu", timer_to_us(at - since));
	else
		print("        -");
}

static void print_outage(const struct outage *o)
{
	static const char *const strategies[STRATEGY_KINDS] = {
		"restart", "instead", "rollback", "cell", "given up", "takeover",
	};
	uint64_t ms = timer_to_us(o->detected - machine.boot_tsc) / 1000;

	print("%6lu.%03lu %-15s %-9s %7lu %-8s", ms / 1000, ms % 1000,
	      rules[o->component].name, detectors[o->detector].name, o->value,
	      strategies[o->strategy]);
	print_phase(o->detected, o->fault);
	print_phase(o->stopped, o->fault);
	print_phase(o->started, o->fault);
	print_phase(o->alive, o->fault);
	print("\n");
}

static void print_outages(void)
{
	int i, end = outage_count();
	struct outage copy;
	bool irqs, some;

	print("OUTAGE AT s COMPONENT      DETECTOR    VALUE STRATEGY DETECTED  STOPPED  STARTED"
	      "    ALIVE\n");
	for (i = end > OUTAGES ? end - OUTAGES : 0; i < end; i++) {
		irqs = irq_save();
		some = outage_at(i);
		if (some)
			copy = *outage_at(i);
		irq_restore(irqs);
		if (some)
			print_outage(&copy);
	}
}

/* Each replica, and behind it the two other cells. */
static void print_replica(unsigned int n)
{
	struct replica_counts c;
	bool irqs = irq_save();
	unsigned int i;

	c = *replica_counts(n);
	irq_restore(irqs);
	print("%-15s %-23s %9lu %8u %5u\n", rules[n].name, "(this cell)", c.votes, c.outvoted[0],
	      c.late[0]);
	for (i = 1; i < VOTE_CELLS; i++)
		print("%-15s %-23s %9s %8u %5u\n", rules[n].name, replica_cell(n, i), "-",
		      c.outvoted[i], c.late[i]);
}

static void print_replicas(void)
{
	bool some = false;
	unsigned int n;

	for (n = 0; n < num_components; n++) {
		if (!replica_used(n))
			continue;
		if (!some)
			print("REPLICA         CELL                        VOTES OUTVOTED  LATE\n");
		some = true;
		print_replica(n);
	}
}

void recovery_print(void)
{
	unsigned int n;

	if (recovery_vcpu() < 0 || !num_components) {
		print("no components: the command line has no word recovery=, "
		      "or the file is wrong\n");
		return;
	}
	print("COMPONENT       STATE    PID PROGRAM         STARTS FAULTS  LONGEST\n");
	for (n = 0; n < num_components; n++)
		print_component(n);
	print_replicas();
	print_detectors();
	if (outage_count())
		print_outages();
}
