// SPDX-License-Identifier: GPL-2.0-only
/*
 * A peer that starts again between any two loads of a call. Its manager writes the life word first,
 * and then zeroes the section, word by word. No word that a call finds meanwhile is a lie of the
 * peer, so no call may say so.
 */
#include "unit.h"
#include "../world.h"

#define WORDS	(QV_CHAN_DATA / 8)	/* of a section before its slots */
#define SLOTS	4

uint64_t shared_load(const uint64_t *word);
void shared_store(uint64_t *word, uint64_t value);
void shared_store_fenced(uint64_t *word, uint64_t value);

/* The work of the manager: it begins before load number `first`, and ends before `second`. */
static struct manager {
	struct world *world;		/* NULL: nothing starts again */
	uint32_t peer, words;		/* those that it zeroes at first */
	uint32_t first, second, loads;
} manager;

static void zero(uint32_t from, uint32_t to)
{
	uint64_t *word = (uint64_t *)world_section(manager.world, manager.peer);

	for (; from < to; from++)
		word[from] = 0;
}

static void begin_again(void)
{
	struct qv_chan_page *page = manager.world->window;
	uint64_t *life = &page->end[manager.peer].life;

	*life = QV_CHAN_LIFE(QV_CHAN_GENERATION(*life) + 10, QV_CHAN_IS_STOPPED);
	zero(0, manager.words);
}

static void end_again(void)
{
	zero(manager.words, WORDS);
	manage_state(manager.world->window, manager.peer, QV_CHAN_IS_RUNNING);
	manager.world = NULL;
}

uint64_t shared_load(const uint64_t *word)
{
	uint32_t number = manager.loads++;

	if (manager.world && number == manager.first)
		begin_again();
	if (manager.world && number == manager.second)
		end_again();
	return *word;
}

void shared_store(uint64_t *word, uint64_t value)
{
	*word = value;
}

void shared_store_fenced(uint64_t *word, uint64_t value)
{
	*word = value;
}

static const uint64_t item[2] = { 77, 77 };

static int get(struct qv_end *end)
{
	struct qv_item about;
	uint64_t data[2];

	return qv_end_read(end, data, sizeof(data), &about);
}

static int put(struct qv_end *end)
{
	return qv_end_write(end, item, sizeof(item));
}

static int look(struct qv_end *end)
{
	struct qv_item about;
	const void *data;
	int result = qv_end_peek(end, &data, &about);

	return result ? result : qv_end_release(end);
}

static int get_two(struct qv_end *end)
{
	int found = qv_end_peek_n(end, 2);

	return found < 0 ? found : qv_end_release_n(end, (uint32_t)found);
}

static int put_two(struct qv_end *end)
{
	int room = qv_end_claim_n(end, 2);

	return room < 0 ? room : qv_end_commit_n(end, (uint32_t)room);
}

/* The state of the end: bound, new, or bound and its writer finds no room */
enum before { BOUND, NEW, FULL, BEFORES };

/* Both ends have exchanged more items than there are slots. */
static void prepare(struct world *w, struct qv_end ends[2], uint32_t self, enum before before)
{
	uint32_t n;

	CHECK_EQ(world_attach(w, &ends[0], 0) | world_attach(w, &ends[1], 1), QV_CHAN_DONE);
	for (n = 0; n < SLOTS + 2; n++) {
		CHECK_EQ(put(&ends[0]) | get(&ends[1]), QV_CHAN_DONE);
		if (w->plan.type == QV_CHAN_MAILBOX)
			CHECK_EQ(put(&ends[1]) | get(&ends[0]), QV_CHAN_DONE);
	}
	for (n = 0; n < (before == FULL ? SLOTS : 2); n++)
		(void)put(&ends[0]);
	if (before == NEW) {
		manage_start(w->window, self);
		CHECK_EQ(world_attach(w, &ends[self], self), QV_CHAN_DONE);
	}
}

/* Returns whether the call is over before the manager has begun. */
static bool is_over(const struct world *plan, uint32_t self, enum before before,
		    int (*call)(struct qv_end *end), struct manager work)
{
	struct world w = world_make(plan->plan.type, 16, plan->plan.slots, 2, plan->plan.full,
				    QV_CHAN_RECONNECT);
	struct qv_end ends[2];
	bool over;
	int result;

	prepare(&w, ends, self, before);
	manager = work;
	manager.world = &w;
	manager.peer = !self;
	result = call(&ends[self]);
	over = manager.loads <= manager.first;
	if (manager.world && over)
		begin_again();
	if (manager.world)
		end_again();
	if (result == QV_CHAN_CORRUPT || result == QV_CHAN_OWN_SECTION) {
		unit_case("type %u, policy %u, end %u, %s: %u words before load %u, all before %u",
			  w.plan.type, w.plan.full, self, before == NEW ? "new" : "bound",
			  work.words, work.first, work.second);
		unit_give_up("the call says that the peer lies");
	}
	/* the channel works on */
	(void)call(&ends[self]);
	CHECK_EQ(world_attach(&w, &ends[!self], !self), QV_CHAN_DONE);
	result = self ? put(&ends[0]) : get(&ends[1]);
	CHECK(result == QV_CHAN_DONE || (!self && result == QV_CHAN_NOTHING));
	result = call(&ends[self]);
	CHECK(result == QV_CHAN_DONE || result == QV_CHAN_FULL || result == QV_CHAN_NOTHING ||
	      result == QV_CHAN_RESTARTED);
	free(w.window);
	return over;
}

static void check_call(uint32_t type, uint32_t full, uint32_t self, enum before before,
		       int (*call)(struct qv_end *end))
{
	struct world plan = { .plan = { .type = type, .full = full,
					.slots = type == QV_CHAN_RING ? SLOTS : 1 } };
	struct manager work = { 0 };
	bool over = false;

	for (work.first = 0; !over; work.first++)
		for (work.second = work.first; work.second < work.first + 6; work.second++)
			for (work.words = 0; work.words <= WORDS; work.words++)
				over |= is_over(&plan, self, before, call, work);
	CHECK(work.first > 1);	/* the manager has acted within the call */
}

static void check_type(uint32_t type, uint32_t full)
{
	enum before before;

	for (before = BOUND; before < BEFORES; before++) {
		check_call(type, full, 0, before, put);
		check_call(type, full, 1, before, get);
		check_call(type, full, 1, before, look);
		if (type == QV_CHAN_RING) {
			check_call(type, full, 0, before, put_two);
			check_call(type, full, 1, before, get_two);
		}
		if (type == QV_CHAN_MAILBOX) {
			check_call(type, full, 0, before, get);
			check_call(type, full, 1, before, put);
		}
	}
}

TEST(no_call_calls_a_peer_corrupt_that_starts_again)
{
	check_type(QV_CHAN_MAILBOX, 0);
	check_type(QV_CHAN_FOUR_SLOT, 0);
	check_type(QV_CHAN_RING, QV_CHAN_FULL_ERROR);
	check_type(QV_CHAN_RING, QV_CHAN_DROP_NEWEST);
	check_type(QV_CHAN_RING, QV_CHAN_DROP_OLDEST);
}
