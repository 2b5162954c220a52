// SPDX-License-Identifier: GPL-2.0-only
/* Several items of a ring in one call */
#include <stdio.h>
#include <unistd.h>
#include <qv/libqv.h>
#include "unit.h"
#include "world.h"

#define SLOTS	8

static struct world ring(uint32_t full, struct qv_end *ends)
{
	struct world w = world_make(QV_CHAN_RING, 64, SLOTS, 2, full, QV_CHAN_RECONNECT);

	CHECK_EQ(world_attach(&w, &ends[0], 0), QV_CHAN_DONE);
	CHECK_EQ(world_attach(&w, &ends[1], 1), QV_CHAN_DONE);
	return w;
}

/* Claims `n` items and commits `commits` with the values from `value` on. Returns the room. */
static int put_n(struct qv_end *end, uint32_t n, uint32_t commits, uint64_t value)
{
	int room = qv_end_claim_n(end, n), i;

	for (i = 0; i < room; i++)
		*(uint64_t *)qv_end_claimed(end, (uint32_t)i) = value + (uint64_t)i;
	if (room > 0 && commits)
		CHECK_EQ(qv_end_commit_n(end, commits), QV_CHAN_DONE);
	return room;
}

/* Peeks at `n` items, the first of which has to have this value, and releases `takes`. */
static int get_n(struct qv_end *end, uint32_t n, uint32_t takes, uint64_t value)
{
	struct qv_item about;
	int found = qv_end_peek_n(end, n), i;

	for (i = 0; i < found; i++) {
		CHECK_EQ(*(const uint64_t *)qv_end_peeked(end, (uint32_t)i, &about),
			 value + (uint64_t)i);
		CHECK_EQ(about.number, value + (uint64_t)i);
	}
	if (found > 0 && takes)
		CHECK_EQ(qv_end_release_n(end, takes), QV_CHAN_DONE);
	return found;
}

static void test_batches_are_a_queue(void)
{
	struct qv_end ends[2];
	struct world w = ring(QV_CHAN_FULL_ERROR, ends);
	struct qv_end_status status;
	uint64_t item[8];
	struct qv_item about;

	CHECK_EQ(get_n(&ends[1], 4, 0, 0), QV_CHAN_NOTHING);
	CHECK_EQ(put_n(&ends[0], 100, 5, 1), SLOTS);	/* gives up three */
	CHECK_EQ(get_n(&ends[1], 3, 2, 1), 3);		/* leaves one */
	CHECK_EQ(get_n(&ends[1], 100, 2, 3), 3);
	CHECK_EQ(put_n(&ends[0], 100, 7, 6), 7);
	CHECK_EQ(put_n(&ends[0], 1, 0, 0), QV_CHAN_FULL);
	qv_end_status(&ends[0], &status);
	CHECK_EQ(status.waiting, SLOTS);
	CHECK_EQ(status.refused, 1);
	CHECK_EQ(qv_end_read(&ends[1], item, sizeof(item), &about), QV_CHAN_DONE);
	CHECK_EQ(item[0], 5);
	CHECK_EQ(get_n(&ends[1], 2, 2, 6), 2);		/* it knows of five more */
	CHECK_EQ(put_n(&ends[0], 4, 3, 13), 3);
	CHECK_EQ(get_n(&ends[1], 100, 8, 8), 8);
	CHECK_EQ(get_n(&ends[1], 1, 0, 0), QV_CHAN_NOTHING);
	free(w.window);
}

static void test_batch_ends_by_its_own_calls(void)
{
	struct qv_end ends[2];
	struct world w = ring(QV_CHAN_FULL_ERROR, ends);
	struct qv_item about;
	const void *there;
	void *room;

	CHECK_EQ(qv_end_claim_n(&ends[0], 0), QV_CHAN_USAGE);
	CHECK_EQ(qv_end_claim_n(&ends[1], 1), QV_CHAN_USAGE);
	CHECK_EQ(qv_end_peek_n(&ends[0], 1), QV_CHAN_USAGE);
	CHECK_EQ(qv_end_commit_n(&ends[0], 1), QV_CHAN_USAGE);
	CHECK_EQ(qv_end_release_n(&ends[1], 1), QV_CHAN_USAGE);
	CHECK(!qv_end_claimed(&ends[0], 0) && !qv_end_peeked(&ends[1], 0, &about));
	CHECK_EQ(put_n(&ends[0], 3, 0, 1), 3);
	CHECK_EQ(qv_end_claim_n(&ends[0], 8), 3);	/* the same room */
	CHECK_EQ(qv_end_claim(&ends[0], &room), QV_CHAN_USAGE);
	CHECK_EQ(qv_end_commit(&ends[0], 64), QV_CHAN_USAGE);
	CHECK_EQ(qv_end_commit_n(&ends[0], 4), QV_CHAN_USAGE);
	CHECK_EQ(qv_end_commit_n(&ends[0], 0), QV_CHAN_USAGE);
	CHECK_EQ(qv_end_abort(&ends[0]), QV_CHAN_DONE);
	CHECK_EQ(get_n(&ends[1], 3, 0, 0), QV_CHAN_NOTHING);
	CHECK_EQ(put_n(&ends[0], 3, 3, 1), 3);
	CHECK_EQ(get_n(&ends[1], 2, 0, 1), 2);
	CHECK_EQ(qv_end_peek_n(&ends[1], 8), 2);	/* the same items */
	CHECK_EQ(qv_end_peek(&ends[1], &there, &about), QV_CHAN_USAGE);
	CHECK_EQ(qv_end_release(&ends[1]), QV_CHAN_USAGE);
	CHECK_EQ(qv_end_release_n(&ends[1], 3), QV_CHAN_USAGE);
	CHECK_EQ(qv_end_release_n(&ends[1], 2), QV_CHAN_DONE);
	CHECK_EQ(qv_end_peek(&ends[1], &there, &about), QV_CHAN_DONE);
	CHECK_EQ(about.number, 3);
	CHECK_EQ(qv_end_release_n(&ends[1], 1), QV_CHAN_DONE);	/* one item is a batch, too */
	CHECK_EQ(qv_end_claim(&ends[0], &room), QV_CHAN_DONE);
	CHECK_EQ(qv_end_commit_n(&ends[0], 1), QV_CHAN_DONE);
	free(w.window);
}

static void test_batch_of_a_ring_that_drops(void)
{
	struct qv_end ends[2];
	struct world w = ring(QV_CHAN_DROP_NEWEST, ends);
	struct qv_item about;

	CHECK_EQ(put_n(&ends[0], 6, 6, 1), 6);
	CHECK_EQ(put_n(&ends[0], 6, 2, 7), 2);
	CHECK_EQ(put_n(&ends[0], 6, 0, 0), QV_CHAN_FULL);	/* drops number 9 */
	CHECK_EQ(get_n(&ends[1], 7, 7, 1), 7);
	CHECK_EQ(put_n(&ends[0], 2, 2, 10), 2);
	CHECK_EQ(qv_end_peek_n(&ends[1], 8), 3);
	CHECK(qv_end_peeked(&ends[1], 1, &about) != NULL);
	CHECK_EQ(about.number, 10);
	CHECK_EQ(about.lost, 1);
	CHECK_EQ(qv_end_release_n(&ends[1], 3), QV_CHAN_DONE);
	CHECK_EQ(world_section(&w, 1)->lost, 1);
	CHECK_EQ(world_section(&w, 1)->last, 11);
	free(w.window);
	w = ring(QV_CHAN_DROP_NEWEST, ends);
	CHECK_EQ(put_n(&ends[0], 8, 8, 1), 8);
	CHECK_EQ(put_n(&ends[0], 1, 0, 0), QV_CHAN_FULL);	/* drops number 9 */
	CHECK_EQ(get_n(&ends[1], 1, 1, 1), 1);
	CHECK_EQ(put_n(&ends[0], 1, 1, 10), 1);
	manage_start(w.window, 1);
	CHECK_EQ(world_attach(&w, &ends[1], 1), QV_CHAN_DONE);
	CHECK_EQ(qv_end_peek_n(&ends[1], 8), 8);
	CHECK_EQ(qv_end_release_n(&ends[1], 8), QV_CHAN_DONE);
	CHECK_EQ(world_section(&w, 1)->lost, 1);		/* within its first batch */
	free(w.window);
	w = ring(QV_CHAN_DROP_OLDEST, ends);
	CHECK_EQ(put_n(&ends[0], 8, 8, 1), 8);
	CHECK_EQ(qv_end_peek_n(&ends[1], 4), 4);
	CHECK_EQ(put_n(&ends[0], 2, 2, 9), 2);		/* over two of these */
	CHECK_EQ(qv_end_release_n(&ends[1], 4), QV_CHAN_LAPPED);
	CHECK_EQ(get_n(&ends[1], 8, 8, 3), 8);
	CHECK_EQ(put_n(&ends[0], 8, 0, 11), 8);		/* the reader's next look is behind */
	CHECK_EQ(get_n(&ends[1], 8, 8, 11), QV_CHAN_NOTHING);
	free(w.window);
}

/* The release looks at the life word again. */
static void test_batch_of_a_writer_that_restarts(void)
{
	struct qv_end ends[2];
	struct world w = ring(QV_CHAN_FULL_ERROR, ends);

	CHECK_EQ(put_n(&ends[0], 4, 4, 1), 4);
	CHECK_EQ(get_n(&ends[1], 4, 0, 1), 4);
	manage_start(w.window, 0);
	CHECK_EQ(qv_end_release_n(&ends[1], 4), QV_CHAN_RESTARTED);
	CHECK(!qv_end_peeked(&ends[1], 0, NULL));
	CHECK_EQ(world_attach(&w, &ends[0], 0), QV_CHAN_DONE);
	CHECK_EQ(put_n(&ends[0], 4, 4, 1), 4);
	CHECK_EQ(get_n(&ends[1], 4, 4, 1), 4);
	free(w.window);
}

static void test_batch_with_a_wrong_item_is_corrupt(void)
{
	struct qv_end ends[2];
	struct world w = ring(QV_CHAN_FULL_ERROR, ends);

	CHECK_EQ(put_n(&ends[0], 4, 4, 1), 4);
	world_slot(&w, 0, 2)->end = 2;			/* it was 3 */
	CHECK_EQ(qv_end_peek_n(&ends[1], 4), QV_CHAN_CORRUPT);
	CHECK_EQ(get_n(&ends[1], 2, 0, 1), 2);
	world_slot(&w, 0, 1)->begin = 7;
	CHECK_EQ(qv_end_release_n(&ends[1], 2), QV_CHAN_CORRUPT);
	CHECK_EQ(world_section(&w, 1)->count, 0);	/* no item was taken */
	CHECK_EQ(qv_end_peek_n(&ends[1], 2), 2);
	CHECK_EQ(qv_end_release_n(&ends[1], 1), QV_CHAN_DONE);
	free(w.window);
}

/* libqv: a batch waits for one item, and rings once. */
static void test_libqv_waits_for_a_batch(void)
{
	struct qv_chan_page plan = {
		.type = QV_CHAN_RING, .item = 64, .slots = SLOTS, .ends = 2,
		.full = QV_CHAN_FULL_BLOCK, .flags = QV_CHAN_BELL, .name = "sensor",
	};
	struct qv_channel *a, *b;
	struct qv_item about;
	char path[200];
	int room, i;

	snprintf(path, sizeof(path), "%s/batch.%d", out_folder(), getpid());
	if (qv_file_create(path, &plan) || qv_file_open(&a, path, 0) || qv_file_open(&b, path, 1))
		unit_give_up(qv_detail());
	CHECK_EQ(qv_peek_n(b, 4, 10), QV_LIB_TIMEOUT);
	CHECK_EQ(qv_peek_n(b, 4, 0), QV_CHAN_NOTHING);
	room = qv_claim_n(a, 100, 1000);
	CHECK_EQ(room, SLOTS);
	for (i = 0; i < room; i++)
		*(uint64_t *)qv_claimed(a, (uint32_t)i) = (uint64_t)i;
	CHECK_EQ(qv_commit_n(a, SLOTS), 0);
	CHECK_EQ(qv_claim_n(a, 1, 10), QV_LIB_TIMEOUT);
	CHECK_EQ(qv_peek_n(b, 3, -1), 3);
	CHECK_EQ(*(const uint64_t *)qv_peeked(b, 2, &about), 2);
	CHECK_EQ(about.bytes, 64);
	CHECK_EQ(qv_release_n(b, 3), 0);
	CHECK_EQ(qv_claim_n(a, 100, 1000), 3);
	qv_close(a);
	qv_close(b);
	qv_file_remove(path);
}

UNIT_SUITE(batch) = {
	{ "batch: batches are a queue", test_batches_are_a_queue },
	{ "batch: it ends by its own calls", test_batch_ends_by_its_own_calls },
	{ "batch: a ring that drops reports gaps", test_batch_of_a_ring_that_drops },
	{ "batch: a writer that restarts is found", test_batch_of_a_writer_that_restarts },
	{ "batch: a wrong item is corrupt", test_batch_with_a_wrong_item_is_corrupt },
	{ "batch: libqv waits for one item", test_libqv_waits_for_a_batch },
	{ 0 }
};
