// SPDX-License-Identifier: GPL-2.0-only
/* A peer that stops, fails, restarts, lies, or scribbles. */
#include "unit.h"
#include "world.h"

struct event {
	const char *name;
	void (*make)(struct world *w, uint32_t end);
	int empty, full;	/* result of a call that finds no item, no room */
};

static void running(struct world *w, uint32_t end)
{
	manage_state(w->window, end, QV_CHAN_IS_RUNNING);
}

static void stopped(struct world *w, uint32_t end)
{
	manage_state(w->window, end, QV_CHAN_IS_STOPPED);
}

static void failed(struct world *w, uint32_t end)
{
	manage_state(w->window, end, QV_CHAN_IS_FAILED);
}

static void absent(struct world *w, uint32_t end)
{
	manage_state(w->window, end, QV_CHAN_IS_ABSENT);
}

static const struct event events[] = {
	{ "running", running, QV_CHAN_NOTHING, QV_CHAN_FULL },
	{ "stops", stopped, QV_CHAN_STOPPED, QV_CHAN_STOPPED },
	{ "fails", failed, QV_CHAN_FAILED, QV_CHAN_FAILED },
	{ "detaches, is destroyed", absent, QV_CHAN_ABSENT, QV_CHAN_ABSENT },
};

static const uint64_t item[8] = { 77 };

static int get(struct qv_end *end)
{
	struct qv_item about;
	uint64_t data[8];

	return qv_end_read(end, data, sizeof(data), &about);
}

static int put(struct qv_end *end)
{
	return qv_end_write(end, item, sizeof(item));
}

/* Calls that can be carried out are; the others return the state of the peer. */
static void test_calls_return_state_of_peer(void)
{
	struct qv_end a, b;
	size_t i;

	for (i = 0; i < sizeof(events) / sizeof(*events); i++) {
		const struct event *e = &events[i];
		struct world w = world_make(QV_CHAN_RING, 64, 2, 2, QV_CHAN_FULL_ERROR, 0);

		unit_case("the peer %s", e->name);
		CHECK_EQ(world_attach(&w, &a, 0) | world_attach(&w, &b, 1), QV_CHAN_DONE);
		put(&a);
		put(&a);
		e->make(&w, 0);
		CHECK_EQ(get(&b), QV_CHAN_DONE);	/* drains */
		CHECK_EQ(get(&b), QV_CHAN_DONE);
		CHECK_EQ(get(&b), e->empty);
		e->make(&w, 1);
		CHECK_EQ(put(&a), QV_CHAN_DONE);
		CHECK_EQ(put(&a), QV_CHAN_DONE);
		CHECK_EQ(put(&a), e->full);
		free(w.window);

		w = world_make(QV_CHAN_FOUR_SLOT, 64, 1, 2, 0, 0);
		CHECK_EQ(world_attach(&w, &a, 0) | world_attach(&w, &b, 1), QV_CHAN_DONE);
		put(&a);
		e->make(&w, 0);
		CHECK_EQ(get(&b), QV_CHAN_DONE);
		CHECK_EQ(get(&b), e->empty);
		e->make(&w, 1);
		CHECK_EQ(put(&a), QV_CHAN_DONE);
		free(w.window);

		w = world_make(QV_CHAN_MAILBOX, 64, 1, 2, 0, 0);
		CHECK_EQ(world_attach(&w, &a, 0) | world_attach(&w, &b, 1), QV_CHAN_DONE);
		put(&a);
		e->make(&w, 1);
		CHECK_EQ(get(&a), e->empty);
		CHECK_EQ(put(&a), e->full);
		e->make(&w, 0);
		CHECK_EQ(get(&b), QV_CHAN_DONE);
		CHECK_EQ(get(&b), e->empty);
		free(w.window);
	}
}

/* The section of an end that never started has no meaning, whatever is in it. */
static void test_nothing_comes_from_an_end_that_never_started(void)
{
	struct world w = world_make(QV_CHAN_RING, 64, 4, 2, QV_CHAN_FULL_ERROR, QV_CHAN_RECONNECT);
	struct qv_chan_page *page = w.window;
	struct qv_end b;

	page->end[0].life = QV_CHAN_LIFE(0, QV_CHAN_IS_ABSENT);
	world_section(&w, 0)->count = 1;
	world_slot(&w, 0, 0)->begin = world_slot(&w, 0, 0)->end = 1;
	CHECK_EQ(world_attach(&w, &b, 1), QV_CHAN_DONE);
	CHECK_EQ(get(&b), QV_CHAN_ABSENT);
	free(w.window);
}

/* The reader of each type, and the writer of a ring and of a mailbox, see a restart of the peer. */
static void test_restart_is_reported(void)
{
	static const uint32_t types[] = { QV_CHAN_MAILBOX, QV_CHAN_FOUR_SLOT, QV_CHAN_RING };
	uint32_t i, again;
	struct qv_end a, b;

	for (i = 0; i < 6; i++) {
		uint32_t type = types[i % 3], flags = i < 3 ? QV_CHAN_RECONNECT : 0;
		bool ring = type == QV_CHAN_RING;
		struct world w = world_make(type, 64, ring ? 4 : 1, 2, ring, flags);

		unit_case("type %u, flags %u", type, flags);
		CHECK_EQ(world_attach(&w, &a, 0) | world_attach(&w, &b, 1), QV_CHAN_DONE);
		CHECK_EQ(put(&a), QV_CHAN_DONE);
		CHECK_EQ(get(&b), QV_CHAN_DONE);
		if (type != QV_CHAN_MAILBOX)
			CHECK_EQ(put(&a), QV_CHAN_DONE);
		manage_start(w.window, 0);
		CHECK_EQ(get(&b), QV_CHAN_RESTARTED);
		/* another kernel runs there and does not attach */
		for (again = 0; again < 2; again++)
			CHECK_EQ(get(&b), flags ? QV_CHAN_ABSENT : QV_CHAN_RESTARTED);
		CHECK_EQ(world_attach(&w, &a, 0), QV_CHAN_DONE);
		CHECK_EQ(get(&b), flags ? QV_CHAN_NOTHING : QV_CHAN_RESTARTED);
		CHECK_EQ(put(&a), QV_CHAN_DONE);
		CHECK_EQ(get(&b), flags ? QV_CHAN_DONE : QV_CHAN_RESTARTED);
		free(w.window);
	}
}

static void test_restart_ends_peek_and_claim(void)
{
	struct world w = world_make(QV_CHAN_RING, 64, 4, 2, QV_CHAN_FULL_ERROR, QV_CHAN_RECONNECT);
	struct qv_item about;
	const void *there;
	struct qv_end a, b;

	CHECK_EQ(world_attach(&w, &a, 0) | world_attach(&w, &b, 1), QV_CHAN_DONE);
	put(&a);
	CHECK_EQ(qv_end_peek(&b, &there, &about), QV_CHAN_DONE);
	manage_start(w.window, 0);
	CHECK_EQ(qv_end_release(&b), QV_CHAN_RESTARTED);
	free(w.window);
	w = world_make(QV_CHAN_RING, 64, 4, 2, QV_CHAN_FULL_ERROR, 0);
	CHECK_EQ(world_attach(&w, &a, 0), QV_CHAN_DONE);
	put(&a);
	manage_start(w.window, 1);
	CHECK_EQ(put(&a), QV_CHAN_RESTARTED);
	free(w.window);
}

static void test_a_reader_that_restarts_misses_nothing(void)
{
	struct world w = world_make(QV_CHAN_RING, 64, 4, 2, QV_CHAN_FULL_ERROR, QV_CHAN_RECONNECT);
	struct qv_end a, b;
	uint32_t n;

	CHECK_EQ(world_attach(&w, &a, 0) | world_attach(&w, &b, 1), QV_CHAN_DONE);
	for (n = 0; n < 4; n++)
		CHECK_EQ(put(&a), QV_CHAN_DONE);
	manage_start(w.window, 1);
	CHECK_EQ(put(&a), QV_CHAN_FULL);
	CHECK_EQ(world_attach(&w, &b, 1), QV_CHAN_DONE);
	for (n = 0; n < 4; n++)
		CHECK_EQ(get(&b), QV_CHAN_DONE);
	CHECK_EQ(get(&b), QV_CHAN_NOTHING);
	free(w.window);
}

/*
 * The manager writes the life word of a reader that restarts before it zeroes the section. A writer
 * that looks in between uses none of the words there: the next one may be zero already.
 */
static void test_words_of_an_older_reader_mean_nothing(void)
{
	struct world w = world_make(QV_CHAN_RING, 64, 4, 2, QV_CHAN_FULL_ERROR, QV_CHAN_RECONNECT);
	struct qv_chan_section *reader = world_section(&w, 1);
	struct qv_chan_page *page = w.window;
	struct qv_end a, b;
	uint32_t n;

	CHECK_EQ(world_attach(&w, &a, 0) | world_attach(&w, &b, 1), QV_CHAN_DONE);
	for (n = 0; n < 6; n++)
		CHECK_EQ(put(&a) | get(&b), QV_CHAN_DONE);
	for (n = 0; n < 2; n++)
		CHECK_EQ(put(&a), QV_CHAN_DONE);
	CHECK_EQ(a.freed, 4);
	page->end[1].life += QV_CHAN_LIFE(1, 0);
	CHECK_EQ(put(&a), QV_CHAN_FULL);
	reader->count = 0;
	CHECK_EQ(put(&a), QV_CHAN_FULL);
	memset(reader, 0, QV_CHAN_DATA);
	CHECK_EQ(put(&a), QV_CHAN_FULL);
	CHECK_EQ(world_attach(&w, &b, 1), QV_CHAN_DONE);
	for (n = 0; n < 4; n++)
		CHECK_EQ(get(&b), QV_CHAN_DONE);
	CHECK_EQ(get(&b), QV_CHAN_NOTHING);
	CHECK_EQ(put(&a), QV_CHAN_DONE);
	free(w.window);
}

static uint64_t waiting(struct qv_end *end)
{
	struct qv_end_status status;

	qv_end_status(end, &status);
	return status.waiting;
}

/* Until the reader binds again, its count is of another life. Both ends see what waits now. */
static void test_restart_resets_occupancy(void)
{
	struct world w = world_make(QV_CHAN_RING, 64, 4, 2, QV_CHAN_FULL_ERROR, QV_CHAN_RECONNECT);
	struct qv_end a, b;
	uint32_t n;

	CHECK_EQ(world_attach(&w, &a, 0) | world_attach(&w, &b, 1), QV_CHAN_DONE);
	for (n = 0; n < 3; n++)
		CHECK_EQ(put(&a) | get(&b), QV_CHAN_DONE);
	CHECK_EQ(waiting(&b), 0);
	manage_start(w.window, 0);
	CHECK_EQ(waiting(&b), 0);
	CHECK_EQ(world_attach(&w, &a, 0), QV_CHAN_DONE);
	CHECK_EQ(waiting(&a), 0);
	CHECK_EQ(put(&a), QV_CHAN_DONE);
	CHECK(waiting(&a) == 1 && waiting(&b) == 1);
	CHECK_EQ(get(&b), QV_CHAN_RESTARTED);
	for (n = 0; n < 4; n++)
		CHECK_EQ(get(&b) | put(&a), QV_CHAN_DONE);
	CHECK_EQ(waiting(&a), 1);
	manage_start(w.window, 1);	/* the reader begins with the oldest item that is kept */
	CHECK_EQ(waiting(&a), a.count - a.freed);
	CHECK_EQ(world_attach(&w, &b, 1), QV_CHAN_DONE);
	CHECK_EQ(get(&b), QV_CHAN_DONE);
	CHECK_EQ(waiting(&a), a.count - a.freed - 1);
	free(w.window);
}

/* Each word of a peer is set to values that no honest peer writes, while an item waits. */
static void test_lies_are_corrupt(void)
{
	static const uint64_t lies[] = { ~0ull, 1ull << 63, 0x100000000ull, 12345 };
	struct qv_end a, b;
	uint32_t i;

	for (i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		struct world w = world_make(QV_CHAN_RING, 64, 4, 2, QV_CHAN_FULL_ERROR, 0);

		unit_case("%#lx", (unsigned long)lies[i]);
		CHECK_EQ(world_attach(&w, &a, 0) | world_attach(&w, &b, 1), QV_CHAN_DONE);
		put(&a);
		CHECK_EQ(get(&b), QV_CHAN_DONE);
		world_section(&w, 0)->count = lies[i];
		CHECK_EQ(get(&b), QV_CHAN_CORRUPT);
		CHECK_EQ(get(&b), QV_CHAN_CORRUPT);
		world_section(&w, 0)->count = 0;	/* backwards */
		CHECK_EQ(get(&b), QV_CHAN_CORRUPT);
		world_section(&w, 0)->count = 2;	/* an item that was never written */
		CHECK_EQ(get(&b), QV_CHAN_CORRUPT);
		world_slot(&w, 0, 1)->end = lies[i];	/* not equal to begin */
		CHECK_EQ(get(&b), QV_CHAN_CORRUPT);
		world_section(&w, 1)->count = lies[i];
		for (int n = 0; n < 3; n++)
			CHECK_EQ(put(&a), QV_CHAN_DONE);
		CHECK_EQ(put(&a), QV_CHAN_CORRUPT);	/* not "full" */
		free(w.window);

		w = world_make(QV_CHAN_FOUR_SLOT, 64, 1, 2, 0, 0);
		CHECK_EQ(world_attach(&w, &a, 0) | world_attach(&w, &b, 1), QV_CHAN_DONE);
		put(&a);
		world_section(&w, 1)->count = lies[i];
		CHECK_EQ(put(&a), QV_CHAN_DONE);
		CHECK_EQ(get(&b), QV_CHAN_DONE);
		put(&a);
		world_section(&w, 0)->slot[world_section(&w, 0)->count] = lies[i];
		CHECK_EQ(get(&b), QV_CHAN_CORRUPT);
		world_section(&w, 0)->count = lies[i];
		CHECK_EQ(get(&b), QV_CHAN_CORRUPT);
		free(w.window);

		w = world_make(QV_CHAN_MAILBOX, 64, 1, 2, 0, 0);
		CHECK_EQ(world_attach(&w, &a, 0) | world_attach(&w, &b, 1), QV_CHAN_DONE);
		put(&a);
		world_section(&w, 0)->bytes = lies[i];
		CHECK_EQ(get(&b), QV_CHAN_CORRUPT);
		world_section(&w, 0)->count = lies[i];
		CHECK_EQ(get(&b), QV_CHAN_CORRUPT);
		world_section(&w, 1)->bound = QV_CHAN_GENERATION(w.plan.end[0].life);
		world_section(&w, 1)->count = lies[i];
		CHECK(put(&a) != QV_CHAN_DONE);
		free(w.window);
	}
}

/* Random words in the peer's section: each call returns, and none accesses other memory. */
static void test_scribbles_do_no_harm(void)
{
	static const uint32_t types[] = { QV_CHAN_MAILBOX, QV_CHAN_FOUR_SLOT, QV_CHAN_RING };
	uint64_t round, n;
	struct qv_end ends[2];

	for (round = 0; round < 20000; round++) {
		uint32_t type = types[round % 3], liar = rnd_below(2);
		bool ring = type == QV_CHAN_RING;
		struct world w = world_make(type, 64, ring ? 4 : 1, 2, ring ? 1 + rnd_below(4) : 0,
					    rnd_below(4));
		uint64_t *words = (uint64_t *)world_section(&w, liar);
		struct qv_end_status status;

		world_attach(&w, &ends[0], 0);
		world_attach(&w, &ends[1], 1);
		for (n = 0; n < 12; n++) {
			uint64_t where = rnd_below(rnd_below(2) ? 32 : w.plan.end[liar].size / 8);

			words[where] = rnd_below(3) ? rnd_below(8) : rnd();
			get(&ends[!liar]);
			put(&ends[!liar]);
			qv_end_status(&ends[!liar], &status);
			CHECK(status.waiting <= 4);
		}
		free(w.window);
	}
}

static void test_own_section_is_checked(void)
{
	struct world w = world_make(QV_CHAN_FOUR_SLOT, 64, 1, 2, 0, 0);
	struct qv_end a;

	CHECK_EQ(world_attach(&w, &a, 0), QV_CHAN_DONE);
	world_section(&w, 0)->count = 9;
	CHECK_EQ(world_attach(&w, &a, 0), QV_CHAN_OWN_SECTION);
	world_section(&w, 0)->count = 0;
	world_section(&w, 0)->generation++;
	CHECK_EQ(world_attach(&w, &a, 0), QV_CHAN_OWN_SECTION);
	manage_state(w.window, 0, QV_CHAN_IS_STOPPED);
	CHECK_EQ(world_attach(&w, &a, 0), QV_CHAN_ABSENT);
	CHECK_EQ(world_attach(&w, &a, 2), QV_CHAN_USAGE);
	((struct qv_chan_page *)w.window)->version = 0;
	CHECK_EQ(world_attach(&w, &a, 0), QV_CHAN_LAYOUT);
	free(w.window);
}

UNIT_SUITE(peer) = {
	{ "peer: a call that cannot be carried out returns the peer's state",
	  test_calls_return_state_of_peer },
	{ "peer: nothing comes from an end that never started",
	  test_nothing_comes_from_an_end_that_never_started },
	{ "peer: a restart is reported", test_restart_is_reported },
	{ "peer: a restart ends a peek", test_restart_ends_peek_and_claim },
	{ "peer: a reader that restarts misses no item",
	  test_a_reader_that_restarts_misses_nothing },
	{ "peer: words of an older life of the reader mean nothing",
	  test_words_of_an_older_reader_mean_nothing },
	{ "peer: a restart resets the occupancy", test_restart_resets_occupancy },
	{ "peer: lies are corrupt", test_lies_are_corrupt },
	{ "peer: scribbles do no harm", test_scribbles_do_no_harm },
	{ "peer: its own section is checked", test_own_section_is_checked },
	{ 0 }
};
