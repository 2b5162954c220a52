// SPDX-License-Identifier: GPL-2.0-only
/* Rings whose ends take several items at once: batches of every size, also given up in part. */
#include <pthread.h>
#include <sched.h>
#include "../../channel/shared.h"
#include "torture.h"

#define SLOTS	64
#define MOST	20		/* items of a batch */

static pthread_barrier_t together;

/* Sizes come in another order at each end. */
static uint32_t next_size(uint32_t *state)
{
	*state = *state * 1103515245 + 12345;
	return 1 + (*state >> 16) % MOST;
}

/* The reader of a ring that drops the oldest may copy the item at the same time. */
static void put(void *room, uint64_t value, const struct qv_end *end)
{
	uint64_t item[WORDS];

	fill_item(item, value, end->generation);
	shared_copy_in(room, item, sizeof(item));
}

static void *writer(void *arg)
{
	struct end_args *a = arg;
	uint32_t state = 1, n, i;
	uint64_t value = 1;
	struct qv_end end;
	int room;

	world_attach(a->world, &end, 0);
	pthread_barrier_wait(&together);
	while (value <= a->items && !is_enough()) {
		room = qv_end_claim_n(&end, next_size(&state));
		if (room == QV_CHAN_FULL) {
			/* a ring that drops the newest has dropped one item, which had a number */
			value += a->world->plan.full == QV_CHAN_DROP_NEWEST;
			give_way();
			continue;
		}
		if (room < 0) {
			fail(qv_chan_sentence(room));
			break;
		}
		n = next_size(&state);
		n = n < (uint32_t)room ? n : (uint32_t)room;
		n = n < a->items + 1 - value ? n : (uint32_t)(a->items + 1 - value);
		for (i = 0; i < (uint32_t)room; i++)
			if (i < n)
				put(qv_end_claimed(&end, i), value + i, &end);
			else
				fill_half(qv_end_claimed(&end, i));
		if (qv_end_claimed(&end, (uint32_t)room) || qv_end_commit_n(&end, n))
			fail("a batch is larger than it was said");
		value += n;
		if (n == 1)	/* else readers see only the last items where CPUs are few */
			sched_yield();
	}
	a->received = value - 1;
	return NULL;
}

/* Checks an item. Returns why it is wrong, or NULL. `last` is 0 before the first item. */
static const char *judge(const struct end_args *a, const void *there, uint64_t last,
			 const struct qv_item *about)
{
	uint64_t item[WORDS], value;

	shared_copy_out(item, there, sizeof(item));
	value = whole(item);
	if (!value)
		return "an item is torn";
	if (value != about->number)
		return "an item has another number";
	if (value <= last)
		return "an item is not newer than the one before";
	if (a->world->plan.full == QV_CHAN_FULL_ERROR && value != last + 1)
		return "an item is lost";
	return last && value - last - 1 != about->lost ? "a gap is not reported" : NULL;
}

/* Checks the first `n` items of a batch, which count only if the release finds them intact. */
static const char *take_batch(struct end_args *a, struct qv_end *end, uint32_t n, uint64_t *last)
{
	const char *why = NULL, *found;
	uint64_t before = *last, lost = 0;
	struct qv_item about;
	uint32_t i;
	int result;

	for (i = 0; i < n; i++) {
		found = judge(a, qv_end_peeked(end, i, &about), before, &about);
		why = why ? why : found;
		before = about.number;
		lost += about.lost;
	}
	result = qv_end_release_n(end, n);
	if (result)
		return result == QV_CHAN_LAPPED ? NULL : qv_chan_sentence(result);
	if (!why) {
		a->received += n;
		a->lost += lost;
		*last = before;
	}
	return why;
}

static void *reader(void *arg)
{
	struct end_args *a = arg;
	uint32_t state = 2, n;
	uint64_t last = 0;
	struct qv_end end;
	const char *why;
	int found;

	world_attach(a->world, &end, 1);
	pthread_barrier_wait(&together);
	while (!failed()) {
		found = qv_end_peek_n(&end, next_size(&state));
		if (found == QV_CHAN_STOPPED)
			break;
		if (found == QV_CHAN_NOTHING || found == QV_CHAN_LAPPED ||
		    found == QV_CHAN_ABSENT) {
			give_way();
			continue;
		}
		n = next_size(&state);
		why = found < 0 ? qv_chan_sentence(found) :
		      take_batch(a, &end, n < (uint32_t)found ? n : (uint32_t)found, &last);
		if (why)
			fail(why);
	}
	if (!failed() && end.lost != a->lost && a->world->plan.full != QV_CHAN_DROP_OLDEST)
		fail("the lost items are counted wrongly");
	return NULL;
}

bool batches_case(const char *name, uint64_t items, uint32_t full)
{
	struct world w = world_make(QV_CHAN_RING, WORDS * 8, SLOTS, 2, full, 0);
	struct end_args args[2] = { { .world = &w, .items = items }, { .world = &w, .self = 1 } };
	pthread_t threads[2];

	pthread_barrier_init(&together, NULL, 2);
	pthread_create(&threads[0], NULL, writer, &args[0]);
	pthread_create(&threads[1], NULL, reader, &args[1]);
	pthread_join(threads[0], NULL);
	manage_state(w.window, 0, QV_CHAN_IS_STOPPED);	/* the reader drains, then ends */
	pthread_join(threads[1], NULL);
	free(w.window);
	if (full == QV_CHAN_FULL_ERROR && args[1].received != args[0].received && !failed())
		fail("items are lost");
	return end_case(name, args[0].received, args[1].received);
}
