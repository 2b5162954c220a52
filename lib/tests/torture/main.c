// SPDX-License-Identifier: GPL-2.0-only
/*
 * torture [ITEMS [SECONDS [WORD]]]: sends ITEMS items (10^7) through each type of channel between
 * threads. Checks that each item is whole, that items are in order, and that none is lost where the
 * type promises it. A case ends after SECONDS, if not 0, with fewer items: where other programs use
 * the CPUs, each answer of a mailbox can take milliseconds. WORD: only the cases with it in their
 * names. Prints TAP, for tests/harness/run.
 */
#include <stdio.h>
#include "torture.h"

struct torture_case {
	const char *name;
	uint32_t type, full, readers;
	bool zero_copy, restarts, ends, batches;
};

static const struct torture_case cases[] = {
	{ "ring-error", QV_CHAN_RING, QV_CHAN_FULL_ERROR, .readers = 1 },
	{ "ring-error-zero-copy", QV_CHAN_RING, QV_CHAN_FULL_ERROR,
	  .readers = 1, .zero_copy = true },
	{ "ring-drop-newest", QV_CHAN_RING, QV_CHAN_DROP_NEWEST, .readers = 1 },
	{ "ring-drop-oldest", QV_CHAN_RING, QV_CHAN_DROP_OLDEST, .readers = 1 },
	{ "ring-error-batches", QV_CHAN_RING, QV_CHAN_FULL_ERROR, .batches = true },
	{ "ring-drop-newest-batches", QV_CHAN_RING, QV_CHAN_DROP_NEWEST, .batches = true },
	{ "ring-drop-oldest-batches", QV_CHAN_RING, QV_CHAN_DROP_OLDEST, .batches = true },
	{ "four-slot", QV_CHAN_FOUR_SLOT, 0, .readers = 1 },
	{ "four-slot-zero-copy", QV_CHAN_FOUR_SLOT, 0, .readers = 1, .zero_copy = true },
	{ "four-slot-8-readers", QV_CHAN_FOUR_SLOT, 0, .readers = 8 },
	{ "mailbox", QV_CHAN_MAILBOX, 0, .readers = 1 },
	{ "mailbox-zero-copy", QV_CHAN_MAILBOX, 0, .readers = 1, .zero_copy = true },
	{ "memory", QV_CHAN_MEMORY, 0, .readers = 1 },
	{ "ring-writer-restarts", QV_CHAN_RING, QV_CHAN_FULL_ERROR,
	  .readers = 1, .restarts = true },
	{ "ring-oldest-writer-restarts", QV_CHAN_RING, QV_CHAN_DROP_OLDEST,
	  .readers = 1, .restarts = true },
	{ "four-slot-writer-restarts", QV_CHAN_FOUR_SLOT, 0, .readers = 1, .restarts = true },
	{ "ring-reader-restarts", QV_CHAN_RING, QV_CHAN_FULL_ERROR,
	  .readers = 0, .restarts = true },
	{ "ring-writer-ends", QV_CHAN_RING, 0, .readers = 1, .ends = true },
	{ "four-slot-writer-ends", QV_CHAN_FOUR_SLOT, 0, .readers = 1, .ends = true },
	{ "mailbox-writer-ends", QV_CHAN_MAILBOX, 0, .readers = 1, .ends = true },
};

static bool run(const struct torture_case *c, uint64_t items)
{
	if (c->restarts)
		return c->readers ? writer_restarts_case(c->name, c->type, c->full) :
				    reader_restarts_case(c->name);
	if (c->ends)
		return writer_ends_case(c->name, items, c->type);
	if (c->batches)
		return batches_case(c->name, items, c->full);
	if (c->type == QV_CHAN_MAILBOX)
		return mailbox_case(c->name, items, c->zero_copy);
	if (c->type == QV_CHAN_MEMORY)
		return memory_case(c->name, items);
	return stream_case(c->name, items, c->type, c->full, c->readers, c->zero_copy);
}

int main(int argc, char **argv)
{
	uint64_t items = argc > 1 ? strtoull(argv[1], NULL, 0) : 10000000;
	uint32_t seconds = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 0;
	uint32_t count = 0, failed = 0;
	bool good;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (argc > 3 && !strstr(cases[i].name, argv[3]))
			continue;
		begin_case(seconds);
		good = run(&cases[i], items);
		failed += !good;
		printf("%s %u - %s\n", good ? "ok" : "not ok", ++count, cases[i].name);
	}
	printf("1..%u\n", count);
	return failed || !count;
}
