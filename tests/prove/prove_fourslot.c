// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property: on x86-TSO each item that a reader of the four-slot gets is whole, and newer than the
 *	one before with one reader; no reader finds an honest writer corrupt
 * Bound: items of 2 words; case 1: one reader, 6 writes, 4 reads; case 2: two readers, 4 writes,
 *	2 reads each
 * Assumed: both ends have attached. Memory is write-back (x86-TSO holds for no other type)
 * Enough: a read overlaps with several writes only if the writer chooses its pair again; the third
 *	write is the second choice after the first write that a read can overlap
 * Tool: tso
 * Code: lib/channel/end.c lib/channel/fourslot.c lib/channel/layout.c lib/channel/mailbox.c
 *	lib/channel/ring.c lib/channel/shared.c
 * Cases: 1 2
 * Quick: yes
 * Mutation: lib/channel/fourslot.c: `shared_store_fenced(&own->count, pair);` ->
 *	`shared_store(&own->count, pair);`: the reader's fence is missing (case 1)
 * Mutation: lib/channel/fourslot.c: `shared_store_fenced(&own->count, end->count);` ->
 *	`shared_store(&own->count, end->count);`: the writer's fence is missing (case 1)
 * Mutation: lib/channel/fourslot.c: `end->place = 2 * pair + !end->chosen[pair];` ->
 *	`end->place = 2 * pair + end->chosen[pair];`: the writer overwrites its last slot (case 1)
 * Mutation: lib/channel/fourslot.c: `for (reader = 1; reader < end->page.ends; reader++) {` ->
 *	`for (reader = 1; reader < 2; reader++) {`: the second reader is not respected (case 2)
 */
#include <stddef.h>
#include <stdlib.h>
#include <qv/end.h>
#include "tso.h"

#define READERS	(CASE)
#define WRITES	(CASE == 1 ? 6 : 4)
#define READS	(CASE == 1 ? 4 : 2)

const uint32_t tso_threads = 1 + READERS;
static struct qv_end ends[1 + READERS];

static void write_items(void)
{
	struct qv_end end = ends[0];
	uint64_t n;

	for (n = 1; n <= WRITES; n++) {
		uint64_t item[2] = { n, n };

		TSO_PROVE(!qv_end_write(&end, item, sizeof(item)), "a write never fails");
	}
}

static void read_items(uint32_t reader)
{
	struct qv_end end = ends[reader];
	struct qv_item about;
	uint64_t item[2], last = 0, n;
	int result;

	for (n = 0; n < READS; n++) {
		result = qv_end_read(&end, item, sizeof(item), &about);
		TSO_PROVE(result == QV_CHAN_DONE || result == QV_CHAN_NOTHING,
			  "an honest peer is not corrupt");
		if (result)
			continue;
		TSO_PROVE(item[0] == item[1] && item[0] == about.number, "the item is whole");
		TSO_PROVE(item[0] > last, "the item is newer");
		last = item[0];
	}
}

void tso_thread(uint32_t thread)
{
	if (thread)
		read_items(thread);
	else
		write_items();
}

int main(void)
{
	struct qv_chan_page plan = { .type = QV_CHAN_FOUR_SLOT, .item = 16, .slots = 1,
				     .ends = 1 + READERS };
	struct qv_chan_page *page;
	uint32_t i;

	qv_chan_lay_out(&plan);
	page = aligned_alloc(QV_CHAN_PAGE, plan.length);
	memset(page, 0, plan.length);
	*page = plan;
	for (i = 0; i <= READERS; i++) {
		page->end[i].life = QV_CHAN_LIFE(i + 1, QV_CHAN_IS_RUNNING);
		ends[i] = (struct qv_end){ .page = plan, .window = (void *)page,
			.self = i, .peer = !i, .generation = i + 1, .peer_generation = i ? 1 : 2 };
	}
	return tso_explore(page, page + 1);
}
