// SPDX-License-Identifier: GPL-2.0-only
/* The results of calls, with one end at a time in one thread */
#include "unit.h"
#include "world.h"

static const uint64_t item[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

static struct world ring(uint32_t full, uint64_t slots, struct qv_end *ends)
{
	struct world w = world_make(QV_CHAN_RING, 64, slots, 2, full, QV_CHAN_RECONNECT);

	CHECK_EQ(world_attach(&w, &ends[0], 0), QV_CHAN_DONE);
	CHECK_EQ(world_attach(&w, &ends[1], 1), QV_CHAN_DONE);
	return w;
}

static int put(struct qv_end *end, uint64_t value)
{
	uint64_t data[8] = { value };

	return qv_end_write(end, data, sizeof(data));
}

/* Reads the next item. Returns its value, or the result, which is negative. */
static int64_t get(struct qv_end *end)
{
	struct qv_item about;
	uint64_t data[8];
	int result = qv_end_read(end, data, sizeof(data), &about);

	return result ? result : (int64_t)data[0];
}

static void lay_out_refuses(uint32_t type, uint64_t size, uint64_t slots, uint32_t ends,
			    uint32_t full)
{
	struct qv_chan_page page = { .type = type, .item = size, .slots = slots, .ends = ends,
				     .full = full };

	CHECK(qv_chan_lay_out(&page) != NULL);
}

static void test_lay_out_limits(void)
{
	struct qv_chan_page page = { .type = QV_CHAN_MEMORY, .item = (16 << 20) - 4096, .slots = 1,
				     .ends = 9 };

	CHECK_TEXT(qv_chan_lay_out(&page), NULL);
	CHECK_EQ(page.length, QV_CHAN_MAX_LENGTH);
	lay_out_refuses(QV_CHAN_MEMORY, 16 << 20, 1, 2, 0);
	lay_out_refuses(0, 8, 1, 2, 0);
	lay_out_refuses(5, 8, 1, 2, 0);
	lay_out_refuses(QV_CHAN_FOUR_SLOT, 0, 1, 2, 0);
	lay_out_refuses(QV_CHAN_FOUR_SLOT, 12, 1, 2, 0);
	lay_out_refuses(QV_CHAN_FOUR_SLOT, 8, 1, 10, 0);
	lay_out_refuses(QV_CHAN_FOUR_SLOT, 8, 1, 1, 0);
	lay_out_refuses(QV_CHAN_FOUR_SLOT, 8, 2, 2, 0);
	lay_out_refuses(QV_CHAN_FOUR_SLOT, 8, 1, 2, 1);
	lay_out_refuses(QV_CHAN_FOUR_SLOT, 8 << 20, 1, 2, 0);
	lay_out_refuses(QV_CHAN_RING, 8, 0, 2, 1);
	lay_out_refuses(QV_CHAN_RING, 8, 12, 2, 1);
	lay_out_refuses(QV_CHAN_RING, 8, 4, 3, 1);
	lay_out_refuses(QV_CHAN_RING, 8, 4, 2, 0);
	lay_out_refuses(QV_CHAN_RING, 8, 4, 2, 5);
	lay_out_refuses(QV_CHAN_RING, 8, 1ull << 63, 2, 1);
	lay_out_refuses(QV_CHAN_RING, 1 << 20, 1 << 20, 2, 1);
}

/* Each accepted life page keeps every slot inside the window. */
static void test_check_refuses_damage(void)
{
	struct qv_end ends[2];
	struct world w = ring(QV_CHAN_FULL_ERROR, 4, ends);
	struct qv_chan_page page;
	uint64_t refused = 0, bit, i;

	CHECK_TEXT(qv_chan_check(w.window, w.plan.length), NULL);
	CHECK(qv_chan_check(w.window, w.plan.length - 1) != NULL);
	for (bit = 0; bit < sizeof(page) * 8; bit++) {
		memcpy(&page, w.window, sizeof(page));
		((uint8_t *)&page)[bit / 8] ^= 1u << bit % 8;
		if (qv_chan_check(&page, w.plan.length)) {
			refused++;
			continue;
		}
		for (i = 0; i < page.ends; i++) {
			CHECK(page.end[i].offset + page.end[i].size <= w.plan.length);
			CHECK(page.end[i].size >= w.plan.end[i].size || page.item < 64 ||
			      page.slots < 4 || page.type != QV_CHAN_RING);
		}
	}
	CHECK(refused > 300);
	free(w.window);
}

static void test_ring_is_a_queue(void)
{
	struct qv_end ends[2];
	struct world w = ring(QV_CHAN_FULL_ERROR, 4, ends);
	struct qv_end_status status;
	uint64_t n, round;

	for (round = 0; round < 5; round++) {
		for (n = 0; n < 4; n++)
			CHECK_EQ(put(&ends[0], 10 * round + n), QV_CHAN_DONE);
		CHECK_EQ(put(&ends[0], 0), QV_CHAN_FULL);
		qv_end_status(&ends[0], &status);
		CHECK_EQ(status.waiting, 4);
		for (n = 0; n < 4; n++)
			CHECK_EQ(get(&ends[1]), 10 * round + n);
		CHECK_EQ(get(&ends[1]), QV_CHAN_NOTHING);
	}
	qv_end_status(&ends[1], &status);
	CHECK_EQ(status.high, 4);
	CHECK_EQ(status.refused, 5);
	CHECK_EQ(status.lost, 0);
	CHECK_EQ(qv_end_write(&ends[0], item, 32), QV_CHAN_SIZE);
	CHECK_EQ(qv_end_write(&ends[1], item, 64), QV_CHAN_USAGE);
	free(w.window);
}

static void test_ring_reports_gaps(void)
{
	static const uint32_t policies[] = { QV_CHAN_DROP_NEWEST, QV_CHAN_DROP_OLDEST };
	uint64_t data[8], n, k;
	struct qv_item about;

	for (k = 0; k < 2; k++) {
		struct qv_end ends[2];
		struct world w = ring(policies[k], 4, ends);
		uint64_t next = 0, lost = 0;

		for (n = 1; n <= 10; n++)
			CHECK_EQ(put(&ends[0], n), QV_CHAN_DONE);
		for (n = 0; n < 4; n++)
			CHECK_EQ(get(&ends[1]), (k ? 7 : 1) + n);
		CHECK_EQ(put(&ends[0], 11), QV_CHAN_DONE);
		CHECK_EQ(qv_end_read(&ends[1], data, sizeof(data), &about), QV_CHAN_DONE);
		CHECK_EQ(data[0], 11);
		CHECK_EQ(about.number, 11);
		CHECK_EQ(about.lost, k ? 0 : 6);
		for (n = 12; n < 2000; n++) {	/* a reader that is slower than the writer */
			CHECK_EQ(put(&ends[0], n), QV_CHAN_DONE);
			if (n % 3 || qv_end_read(&ends[1], data, sizeof(data), &about))
				continue;
			CHECK_EQ(data[0], about.number);
			if (next)
				CHECK_EQ(data[0], next + about.lost);
			next = data[0] + 1;
			lost += about.lost;
		}
		CHECK(lost > 1000);
		free(w.window);
	}
}

static void test_claim_abort_and_dead_writer(void)
{
	struct qv_end ends[2], again;
	struct world w = ring(QV_CHAN_FULL_ERROR, 2, ends);
	void *room, *same;

	CHECK_EQ(qv_end_commit(&ends[0], 64), QV_CHAN_USAGE);
	CHECK_EQ(qv_end_claim(&ends[0], &room), QV_CHAN_DONE);
	CHECK_EQ(qv_end_claim(&ends[0], &same), QV_CHAN_DONE);
	CHECK(room == same);
	CHECK_EQ(put(&ends[0], 1), QV_CHAN_USAGE);
	CHECK_EQ(qv_end_abort(&ends[0]), QV_CHAN_DONE);
	CHECK_EQ(get(&ends[1]), QV_CHAN_NOTHING);
	CHECK_EQ(put(&ends[0], 5), QV_CHAN_DONE);
	CHECK_EQ(qv_end_claim(&ends[0], &room), QV_CHAN_DONE);
	memset(room, 0xff, 30);
	/* the program is killed here; another one takes over under the same generation */
	CHECK_EQ(world_attach(&w, &again, 0), QV_CHAN_DONE);
	CHECK_EQ(put(&again, 6), QV_CHAN_DONE);
	CHECK_EQ(get(&ends[1]), 5);
	CHECK_EQ(world_attach(&w, &again, 1), QV_CHAN_DONE);
	CHECK_EQ(get(&again), 6);	/* the next reader gets neither item again */
	CHECK_EQ(get(&again), QV_CHAN_NOTHING);
	free(w.window);
}

static void test_peek_and_release(void)
{
	struct qv_end ends[2];
	struct world w = ring(QV_CHAN_DROP_OLDEST, 2, ends);
	const void *there, *same;
	struct qv_item about;
	uint64_t n;

	CHECK_EQ(qv_end_release(&ends[1]), QV_CHAN_USAGE);
	put(&ends[0], 1);
	CHECK_EQ(qv_end_peek(&ends[1], &there, &about), QV_CHAN_DONE);
	CHECK_EQ(qv_end_peek(&ends[1], &same, &about), QV_CHAN_DONE);
	CHECK(there == same && *(const uint64_t *)there == 1);
	CHECK_EQ(get(&ends[1]), QV_CHAN_USAGE);
	CHECK_EQ(qv_end_release(&ends[1]), QV_CHAN_DONE);
	CHECK_EQ(qv_end_peek(&ends[1], &there, &about), QV_CHAN_NOTHING);
	put(&ends[0], 2);
	CHECK_EQ(qv_end_peek(&ends[1], &there, &about), QV_CHAN_DONE);
	for (n = 3; n < 9; n++)
		put(&ends[0], n);
	CHECK_EQ(qv_end_release(&ends[1]), QV_CHAN_LAPPED);
	CHECK_EQ(get(&ends[1]), 7);
	free(w.window);
}

static void test_four_slot_keeps_the_last(void)
{
	struct world w = world_make(QV_CHAN_FOUR_SLOT, 64, 1, 9, 0, 0);
	struct qv_end writer, again, readers[9];
	struct qv_end_status status;
	struct qv_item about;
	uint64_t data[8], n;
	uint32_t i;

	CHECK_EQ(world_attach(&w, &writer, 0), QV_CHAN_DONE);
	for (i = 1; i < 9; i++) {
		CHECK_EQ(world_attach(&w, &readers[i], i), QV_CHAN_DONE);
		CHECK_EQ(get(&readers[i]), QV_CHAN_NOTHING);
	}
	for (n = 1; n < 100; n++) {
		CHECK_EQ(put(&writer, n), QV_CHAN_DONE);
		for (i = 1; i < 9; i++)
			if (n % i == 0)
				CHECK_EQ(get(&readers[i]), n);
	}
	CHECK_EQ(get(&readers[1]), QV_CHAN_NOTHING);
	CHECK_EQ(qv_end_read_again(&readers[1], data, 64, &about), QV_CHAN_DONE);
	CHECK_EQ(data[0], 99);
	CHECK_EQ(qv_end_read(&readers[8], data, 64, &about), QV_CHAN_DONE);
	CHECK_EQ(about.lost, 2);
	/* a status at any end, which may not have read for long, names the number of the last */
	qv_end_status(&readers[7], &status);
	CHECK(status.items == 99 && readers[7].last == 98);
	world_section(&w, 0)->count = 9;
	qv_end_status(&readers[7], &status);
	CHECK_EQ(status.items, 0);
	world_section(&w, 0)->count = writer.count;
	CHECK_EQ(world_attach(&w, &again, 0), QV_CHAN_DONE);
	CHECK_EQ(put(&again, 100), QV_CHAN_DONE);
	CHECK_EQ(get(&readers[1]), 100);
	free(w.window);
}

static void test_mailbox_alternates(void)
{
	struct world w = world_make(QV_CHAN_MAILBOX, 64, 1, 2, 0, QV_CHAN_RECONNECT);
	struct qv_item about;
	struct qv_end a, b;
	char text[64];

	CHECK_EQ(world_attach(&w, &a, 0), QV_CHAN_DONE);
	CHECK_EQ(put(&a, 1), QV_CHAN_ABSENT);
	CHECK_EQ(world_attach(&w, &b, 1), QV_CHAN_DONE);
	CHECK_EQ(qv_end_write(&b, "x", 1), QV_CHAN_FULL);
	CHECK_EQ(qv_end_write(&a, "hello", 5), QV_CHAN_DONE);
	CHECK_EQ(qv_end_write(&a, "twice", 5), QV_CHAN_FULL);
	CHECK_EQ(qv_end_read(&b, text, sizeof(text), &about), QV_CHAN_DONE);
	CHECK(about.bytes == 5 && !memcmp(text, "hello", 5));
	CHECK_EQ(qv_end_read(&b, text, sizeof(text), &about), QV_CHAN_NOTHING);
	CHECK_EQ(qv_end_write(&b, NULL, 0), QV_CHAN_DONE);
	CHECK_EQ(qv_end_read(&a, text, sizeof(text), &about), QV_CHAN_DONE);
	CHECK_EQ(about.bytes, 0);
	CHECK_EQ(qv_end_write(&a, item, 65), QV_CHAN_SIZE);
	/* end 1 restarts before it answers: end 0 learns it, and it is its turn again */
	CHECK_EQ(qv_end_write(&a, "lost", 4), QV_CHAN_DONE);
	manage_start(w.window, 1);
	CHECK_EQ(world_attach(&w, &b, 1), QV_CHAN_DONE);
	CHECK_EQ(qv_end_read(&b, text, sizeof(text), &about), QV_CHAN_NOTHING);
	CHECK_EQ(qv_end_read(&a, text, sizeof(text), &about), QV_CHAN_RESTARTED);
	CHECK_EQ(qv_end_write(&a, "again", 5), QV_CHAN_DONE);
	CHECK_EQ(qv_end_read(&b, text, sizeof(text), &about), QV_CHAN_DONE);
	CHECK(!memcmp(text, "again", 5));
	free(w.window);
}

/*
 * Messages of every length around that from which a copy is another one (shared.c), from and to
 * addresses that are not aligned. Nothing behind a message changes.
 */
static void test_messages_of_every_length(void)
{
	enum { MOST = 1104 };
	struct world w = world_make(QV_CHAN_MAILBOX, MOST, 1, 2, 0, QV_CHAN_RECONNECT);
	unsigned char from[MOST + 1], to[MOST + 8];
	struct qv_item about;
	struct qv_end a, b;
	uint64_t size, i;

	CHECK_EQ(world_attach(&w, &a, 0), QV_CHAN_DONE);
	CHECK_EQ(world_attach(&w, &b, 1), QV_CHAN_DONE);
	for (size = 0; size <= MOST; size++) {
		for (i = 0; i <= MOST; i++)
			from[i] = (unsigned char)(1 + (i * 7 + size) % 255);
		memset(to, 0, sizeof(to));
		CHECK_EQ(qv_end_write(&a, from + 1, size), QV_CHAN_DONE);
		CHECK_EQ(qv_end_read(&b, to + 3, MOST, &about), QV_CHAN_DONE);
		CHECK(about.bytes == size && !memcmp(to + 3, from + 1, size));
		CHECK(!to[2] && !to[3 + size]);
		CHECK_EQ(qv_end_write(&b, NULL, 0), QV_CHAN_DONE);
		CHECK_EQ(qv_end_read(&a, to, MOST, &about), QV_CHAN_DONE);
	}
	free(w.window);
}

static void test_memory_is_raw(void)
{
	struct world w = world_make(QV_CHAN_MEMORY, 100 * 8, 1, 3, 0, 0);
	struct qv_end writer, reader;
	uint64_t size;
	void *data;
	bool may;

	CHECK_EQ(world_attach(&w, &writer, 0), QV_CHAN_DONE);
	CHECK_EQ(world_attach(&w, &reader, 2), QV_CHAN_DONE);
	CHECK_EQ(qv_end_memory(&writer, &data, &size, &may), QV_CHAN_DONE);
	CHECK(may && size == 800 && data == (char *)w.window + 4096);
	CHECK_EQ(qv_end_memory(&reader, &data, &size, &may), QV_CHAN_DONE);
	CHECK(!may);
	CHECK_EQ(put(&writer, 1), QV_CHAN_USAGE);
	CHECK_EQ(get(&reader), QV_CHAN_USAGE);
	free(w.window);
}

static void test_every_result_has_a_sentence(void)
{
	int result;

	for (result = QV_CHAN_DONE; result >= QV_CHAN_OWN_SECTION; result--)
		CHECK(strlen(qv_chan_sentence(result)) >= 4);
	CHECK_TEXT(qv_chan_sentence(-99), "unknown result");
	CHECK_TEXT(qv_chan_sentence(1), "unknown result");
}

UNIT_SUITE(channel) = {
	{ "channel: lay_out refuses what is over a limit", test_lay_out_limits },
	{ "channel: check refuses a damaged life page", test_check_refuses_damage },
	{ "channel: a ring is a queue", test_ring_is_a_queue },
	{ "channel: a ring that drops reports gaps", test_ring_reports_gaps },
	{ "channel: an uncommitted item is never seen", test_claim_abort_and_dead_writer },
	{ "channel: peek returns the item until its release", test_peek_and_release },
	{ "channel: a four-slot keeps the last item", test_four_slot_keeps_the_last },
	{ "channel: the ends of a mailbox alternate", test_mailbox_alternates },
	{ "channel: messages of every length arrive", test_messages_of_every_length },
	{ "channel: memory is raw", test_memory_is_raw },
	{ "channel: every result has a sentence", test_every_result_has_a_sentence },
	{ 0 }
};
