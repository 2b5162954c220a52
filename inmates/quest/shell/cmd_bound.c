// SPDX-License-Identifier: GPL-2.0-only
/* The longest times of messages to another cell, before anything runs. */
#include <inmate/console.h>
#include <inmate/timer.h>
#include "../ipc/bellcost.h"
#include "../ipc/bounds.h"
#include "../ipc/cellset.h"
#include "../ipc/copycost.h"
#include "shell.h"
#include "words.h"

#define SLOT	4096		/* bytes: the slot of the papers */
#define BYTES_MAX	(1ull << 30)
#define MS_MAX	600000

static void print_time(const char *what, uint64_t cycles)
{
	uint64_t us = cycles == BOUNDS_NEVER ? 0 : timer_to_us(cycles) + 1;

	if (cycles == BOUNDS_NEVER)
		print("  %s none", what);
	else
		print("  %s %lu.%03lu ms", what, us / 1000, us % 1000);
}

static void print_bounds(const char *memory, uint64_t page, struct bounds_end *sender,
			 struct bounds_end *receiver, uint64_t bytes)
{
	const struct bounds_message m = { .bytes = bytes, .reply = bytes, .slot = SLOT };

	sender->cost = receiver->cost = copycost_of_byte(page);
	print("%s, %lu cycles for 4 KiB:", memory, page);
	print_time("round trip", bounds_round_trip(BOUNDS_RESPONSE, sender, receiver, &m));
	print_time("any VCPUs", bounds_round_trip(BOUNDS_ADMITTED, sender, receiver, &m));
	print_time("papers", bounds_round_trip(BOUNDS_PAPER, sender, receiver, &m));
	print_time("one way", bounds_one_way(BOUNDS_RESPONSE, sender, receiver, &m));
	if (sender->wake)
		print_time("of which w", sender->wake);
	print("\n");
}

/* Ends that sleep wake by bells, and block often. */
static void sleep_both(struct bounds_end *sender, struct bounds_end *receiver, uint64_t wake)
{
	sender->wake = receiver->wake = wake;
	sender->merged = receiver->merged = true;
}

/* The receiver is described by C and T alone: it counts as the VCPU of the highest priority. */
int command_bound(int argc, char **argv)
{
	static struct admission_entry set[SCHED_VCPUS];
	struct admission_entry other = { .io = false };
	struct bounds_end sender, receiver = { .set = &other, .n = 1 };
	uint64_t c, t, bytes = SLOT, wake;
	struct copycost cost;
	int id;

	if (argc < 4 || argc > 5 || !words_number(argv[2], MS_MAX, &c) ||
	    !words_number(argv[3], MS_MAX, &t) || !c || c > t ||
	    (argc == 5 && (!words_number(argv[4], BYTES_MAX, &bytes) || !bytes)))
		return SHELL_SHOW_USAGE;
	id = cellset_find(argv[1]);
	if (id < 0) {
		print("%s: no Main VCPU has that name; vcpus lists all\n", argv[1]);
		return SHELL_FAILED;
	}
	if (!copycost_measure(&cost)) {
		print("there is no memory to measure a copy\n");
		return SHELL_FAILED;
	}
	cellset_end(&sender, set, id);
	other.budget = timer_from_us(c * 1000);
	other.period = timer_from_us(t * 1000);
	print_bounds("cached", cost.cached, &sender, &receiver, bytes);
	print_bounds("not cached", cost.uncached, &sender, &receiver, bytes);
	wake = bellcost_wake();
	if (!wake)
		return 0;
	sleep_both(&sender, &receiver, wake);
	print_bounds("not cached, asleep", cost.uncached, &sender, &receiver, bytes);
	return 0;
}
