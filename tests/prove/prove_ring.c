// SPDX-License-Identifier: GPL-2.0-only
/*
 * Property: on x86-TSO each item that the reader of a ring gets is whole and in order; a ring that
 *	refuses items loses none; a ring that drops items reports each gap
 * Bound: 2 slots, items of 2 words, 5 writes and reads, 4 in case 2; case 1: refuses when full;
 *	case 2: drops the oldest; case 3: drops the newest. Batches of up to 2 items, 3 writes and
 *	reads of them; case 4: refuses when full; case 5: drops the oldest
 * Assumed: both ends have attached. Memory is write-back (x86-TSO holds for no other type)
 * Enough: a third write uses a slot again, and the fourth uses both again
 * Tool: tso
 * Code: lib/channel/end.c lib/channel/fourslot.c lib/channel/layout.c lib/channel/mailbox.c
 *	lib/channel/ring.c lib/channel/shared.c lib/channel/ring_n.c
 * Cases: 1 2 3 4 5
 * Quick: yes
 * Mutation: lib/channel/ring.c: `end->bytes = end->page.item;` -> `end->bytes = end->page.item;
 *	shared_store(&end_section(end, 1)->count, end->count + 1);`: the reader returns the slot
 *	before it copied the item (case 1)
 * Mutation: lib/channel/ring.c: `shared_store(&slot->begin, end->number);` ->
 *	`{ shared_store(&slot->begin, end->number); shared_store(&slot->end, end->number);
 *	shared_store(&end_section(end, 0)->count, end->count + 1); }`: the item is visible
 *	before it is complete (case 1)
 * Mutation: lib/channel/end.c: `end_conclude(end, begin == end->number ? QV_CHAN_DONE :` ->
 *	`end_conclude(end, begin ? QV_CHAN_DONE :`: the reader does not notice that the item is
 *	overwritten (case 2)
 * Mutation: lib/channel/ring.c: `end->number = end->count + end->lost + 1;` ->
 *	`end->number = end->count + 1;`: dropped items have no number (case 3)
 * Mutation: lib/channel/ring_n.c: `end->count += n);` -> `end->count += end->more + 1);`: an item
 *	that was given up is visible (case 4)
 * Mutation: lib/channel/ring_n.c: `if (oldest && *number != end->count + i + 1)` ->
 *	`if (oldest && !i && *number != end->count + 1)`: the reader does not notice that the second
 *	item is overwritten (case 5)
 * Mutation: lib/channel/ring_n.c: `end->count += n - 1;` -> `;`: the reader takes one item of a
 *	batch only (case 4)
 */
#include <stddef.h>
#include <stdlib.h>
#include <qv/end.h>
#include "tso.h"

#define WRITES	(CASE == 2 ? 4 : 5)
#define READS	WRITES

static const uint32_t policies[] = {
	0, QV_CHAN_FULL_ERROR, QV_CHAN_DROP_OLDEST, QV_CHAN_DROP_NEWEST, QV_CHAN_FULL_ERROR,
	QV_CHAN_DROP_OLDEST,
};

const uint32_t tso_threads = 2;
static struct qv_end ends[2];

/* Items are numbered as offered, except that a refused item gets the same number again. */
static void write_items(void)
{
	struct qv_end end = ends[0];
	uint64_t n, value = 1;
	int result;

	for (n = 1; n <= WRITES; n++) {
		uint64_t item[2] = { value, value };

		result = qv_end_write(&end, item, sizeof(item));
		TSO_PROVE(!result || (CASE == 1 && result == QV_CHAN_FULL),
			  "the reader is not corrupt");
		value += !result;
	}
}

static void read_items(void)
{
	struct qv_end end = ends[1];
	struct qv_item about;
	uint64_t item[2], last = 0, n;
	int result;

	for (n = 0; n < READS; n++) {
		result = qv_end_read(&end, item, sizeof(item), &about);
		TSO_PROVE(!result || result == QV_CHAN_NOTHING ||
			  (CASE == 2 && result == QV_CHAN_LAPPED), "the writer is not corrupt");
		if (result)
			continue;
		TSO_PROVE(item[0] == item[1] && item[0] == about.number, "the item is whole");
		TSO_PROVE(item[0] > last, "items are in order");
		if (CASE == 1)
			TSO_PROVE(item[0] == last + 1, "no item is lost");
		else if (last)
			TSO_PROVE(item[0] == last + 1 + about.lost, "each gap is reported");
		last = item[0];
	}
}

#define BATCHES	3

/* The second batch gives up an item that it has written, if it has two. */
static void write_batches(void)
{
	struct qv_end end = ends[0];
	uint64_t n, value = 1;
	uint32_t i, commits;
	int room;

	for (n = 1; n <= BATCHES; n++) {
		room = qv_end_claim_n(&end, 2);
		TSO_PROVE(room > 0 || (CASE == 4 && room == QV_CHAN_FULL),
			  "the reader is not corrupt");
		if (room < 0)
			continue;
		commits = n == 2 ? 1 : room;
		for (i = 0; i < room; i++) {
			uint64_t *item = qv_end_claimed(&end, i);
			uint64_t written = i < commits ? value + i : ~0ull;

			shared_store(&item[0], written);
			shared_store(&item[1], written);
		}
		TSO_PROVE(!qv_end_commit_n(&end, commits), "the batch is published");
		value += commits;
	}
}

static void read_batches(void)
{
	uint64_t item[2][2], last = 0, n;
	struct qv_end end = ends[1];
	struct qv_item about[2];
	int result, found, i;

	for (n = 0; n < BATCHES; n++) {
		found = qv_end_peek_n(&end, 2);
		TSO_PROVE(found > 0 || found == QV_CHAN_NOTHING ||
			  (CASE == 5 && found == QV_CHAN_LAPPED), "the writer is not corrupt");
		for (i = 0; i < found; i++) {
			const uint64_t *there = qv_end_peeked(&end, i, &about[i]);

			item[i][0] = shared_load(&there[0]);
			item[i][1] = shared_load(&there[1]);
		}
		result = found > 0 ? qv_end_release_n(&end, found) : 0;
		TSO_PROVE(!result || (CASE == 5 && result == QV_CHAN_LAPPED),
			  "the writer is not corrupt");
		for (i = 0; !result && i < found; i++) {
			TSO_PROVE(item[i][0] == item[i][1] && item[i][0] == about[i].number,
				  "the item is whole");
			TSO_PROVE(CASE == 4 ? item[i][0] == last + 1 : item[i][0] > last,
				  "items are in order, and none is lost or comes twice");
			TSO_PROVE(!last || item[i][0] == last + 1 + about[i].lost,
				  "each gap is reported");
			last = item[i][0];
		}
	}
}

void tso_thread(uint32_t thread)
{
	if (CASE >= 4 && thread)
		read_batches();
	else if (CASE >= 4)
		write_batches();
	else if (thread)
		read_items();
	else
		write_items();
}

int main(void)
{
	struct qv_chan_page plan = { .type = QV_CHAN_RING, .item = 16, .slots = 2, .ends = 2,
				     .full = policies[CASE] };
	struct qv_chan_page *page;
	struct qv_chan_section *reader;
	uint32_t i;

	qv_chan_lay_out(&plan);
	page = aligned_alloc(QV_CHAN_PAGE, plan.length);
	memset(page, 0, plan.length);
	*page = plan;
	for (i = 0; i < 2; i++) {
		page->end[i].life = QV_CHAN_LIFE(i + 1, QV_CHAN_IS_RUNNING);
		ends[i] = (struct qv_end){ .page = plan, .window = (void *)page,
			.self = i, .peer = !i, .generation = i + 1, .peer_generation = !i + 1 };
	}
	reader = (struct qv_chan_section *)((char *)page + plan.end[1].offset);
	tso_start(&reader->generation, 2);
	tso_start(&reader->bound, 1);
	return tso_explore(page, page + 1);
}
