// SPDX-License-Identifier: GPL-2.0-only
/* Items through each type of channel, both ends alive. */
#include <pthread.h>
#include <sched.h>
#include "torture.h"

static pthread_barrier_t together;	/* all ends of a stream begin at the same time */

static void *writer(void *arg)
{
	struct end_args *a = arg;
	uint64_t value;
	struct qv_end end;
	int result;

	result = world_attach(a->world, &end, a->self);
	pthread_barrier_wait(&together);
	for (value = 1; !result && value <= a->items && !is_enough(); value++) {
		while ((result = send_item(a, &end, value)) == QV_CHAN_FULL && !failed())
			give_way();
		if (value % 64 == 0)	/* else readers see only the last item where CPUs are few */
			sched_yield();
	}
	a->received = value - 1;
	if (result)
		fail(qv_chan_sentence(result));
	return NULL;
}

static const char *judge(struct end_args *a, uint64_t value, uint64_t last,
			 const struct qv_item *about)
{
	const struct qv_chan_page *plan = &a->world->plan;

	if (!value)
		return "an item is torn";
	if (value != about->number)
		return "an item has another number";
	if (value <= last && (plan->type != QV_CHAN_FOUR_SLOT || plan->ends == 2))
		return "an item is not newer than the one before";
	if (plan->full == QV_CHAN_FULL_ERROR && value != last + 1)
		return "an item is lost";
	if (last && value > last && value - last - 1 != about->lost)
		return "a gap is not reported";
	return NULL;
}

static void *reader(void *arg)
{
	struct end_args *a = arg;
	uint64_t value = 0, last = 0;
	struct qv_item about;
	struct qv_end end;
	int result = world_attach(a->world, &end, a->self);

	pthread_barrier_wait(&together);
	/* the last item of a four-slot, or of a ring that drops the oldest, always arrives */
	while (!failed() && last < a->items) {
		const char *why;

		result = take_item(a, &end, &value, &about);
		if (result == QV_CHAN_STOPPED)
			break;
		if (result == QV_CHAN_NOTHING || result == QV_CHAN_LAPPED ||
		    result == QV_CHAN_ABSENT) {
			give_way();
			continue;
		}
		why = result ? qv_chan_sentence(result) : judge(a, value, last, &about);
		if (why)
			fail(why);
		a->received++;
		a->lost += about.lost;
		last = value;
	}
	return NULL;
}

bool stream_case(const char *name, uint64_t items, uint32_t type, uint32_t full, uint32_t readers,
		   bool zero_copy)
{
	struct world w = world_make(type, WORDS * 8, type == QV_CHAN_RING ? 64 : 1, 1 + readers,
				    full, 0);
	struct end_args args[QV_CHAN_MAX_ENDS] = { 0 };
	pthread_t threads[QV_CHAN_MAX_ENDS];
	uint64_t received = 0;
	uint32_t i;

	pthread_barrier_init(&together, NULL, 1 + readers);
	for (i = 0; i <= readers; i++) {
		args[i] = (struct end_args){ .world = &w, .self = i, .zero_copy = zero_copy,
					     .items = items };
		pthread_create(&threads[i], NULL, i ? reader : writer, &args[i]);
	}
	pthread_join(threads[0], NULL);
	manage_state(w.window, 0, QV_CHAN_IS_STOPPED);	/* readers drain, then end */
	for (i = 1; i <= readers; i++) {
		pthread_join(threads[i], NULL);
		received += args[i].received;
	}
	free(w.window);
	return end_case(name, args[0].received, received);
}

/* ---- mailbox: each message is answered, so both directions are in use ---- */

/* Takes the message `expected`. Returns false if the peer stopped or an end failed */
static bool mailbox_take(struct end_args *a, struct qv_end *end, uint64_t expected)
{
	struct qv_item about;
	uint64_t value;
	int result;

	while (!failed()) {
		result = take_item(a, end, &value, &about);
		if (result == QV_CHAN_NOTHING || result == QV_CHAN_ABSENT) {
			give_way();
			continue;
		}
		if (result == QV_CHAN_STOPPED && a->self)
			return false;
		if (!result && value == expected)
			return true;
		fail(result ? qv_chan_sentence(result) :
		     value ? "a message is out of order" : "a message is torn");
	}
	return false;
}

static bool mailbox_send(struct end_args *a, struct qv_end *end, uint64_t value)
{
	int result;

	while ((result = send_item(a, end, value)) == QV_CHAN_ABSENT && !failed())
		give_way();
	if (result)
		fail(qv_chan_sentence(result));
	return !result;
}

static void *mailbox_asks(void *arg)
{
	struct end_args *a = arg;
	struct qv_end end;

	world_attach(a->world, &end, 0);
	while (a->received < a->items && !is_enough() &&
	       mailbox_send(a, &end, 2 * a->received + 1) &&
	       mailbox_take(a, &end, 2 * a->received + 2))
		a->received++;
	manage_state(a->world->window, 0, QV_CHAN_IS_STOPPED);
	return NULL;
}

static void *mailbox_answers(void *arg)
{
	struct end_args *a = arg;
	struct qv_end end;

	world_attach(a->world, &end, 1);
	while (mailbox_take(a, &end, 2 * a->received + 1) &&
	       mailbox_send(a, &end, 2 * a->received + 2))
		a->received++;
	return NULL;
}

bool mailbox_case(const char *name, uint64_t items, bool zero_copy)
{
	struct world w = world_make(QV_CHAN_MAILBOX, WORDS * 8, 1, 2, 0, 0);
	struct end_args args[2];
	pthread_t threads[2];
	uint32_t i;

	for (i = 0; i < 2; i++) {
		args[i] = (struct end_args){ .world = &w, .self = i, .zero_copy = zero_copy,
					     .items = items / 2 };
		pthread_create(&threads[i], NULL, i ? mailbox_answers : mailbox_asks, &args[i]);
	}
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	free(w.window);
	if (args[0].received != args[1].received && !failed())
		fail("the ends count differently");
	return end_case(name, 2 * args[0].received, args[0].received + args[1].received);
}

/* ---- memory: words of the writer arrive whole and in their order ---- */

#define MEMORY_WORDS	64

static void *memory_writer(void *arg)
{
	struct end_args *a = arg;
	uint64_t n, size, *words;
	struct qv_end end;
	void *data;
	bool may;

	if (world_attach(a->world, &end, 0) || qv_end_memory(&end, &data, &size, &may) || !may)
		fail("the writer cannot write");
	pthread_barrier_wait(&together);
	for (words = data, n = 0; n < a->items && (!n || !is_enough()); n++) {
		__atomic_store_n(&words[n % MEMORY_WORDS], n / MEMORY_WORDS + 1, __ATOMIC_RELEASE);
		if (n % 4096 == 0)
			sched_yield();
	}
	__atomic_store_n(&a->received, n, __ATOMIC_SEQ_CST);
	return NULL;
}

/* Loads the words from the last to the first: none is older than the one loaded before. */
static void *memory_reader(void *arg)
{
	struct end_args *a = arg;
	uint64_t i, value, before, size, *words, last = a->items / MEMORY_WORDS, *ended = a->ended;
	bool more = true;
	struct qv_end end;
	void *data;
	bool may;

	if (world_attach(a->world, &end, a->self) || qv_end_memory(&end, &data, &size, &may) || may)
		fail("the reader may write");
	pthread_barrier_wait(&together);
	for (words = data; more && !failed(); ) {
		more = !__atomic_load_n(ended, __ATOMIC_SEQ_CST);
		for (before = 0, i = MEMORY_WORDS; i--; before = value) {
			value = __atomic_load_n(&words[i], __ATOMIC_ACQUIRE);
			if (value < before || value > last + 1)
				fail("a word is torn or out of order");
			a->received++;
		}
		sched_yield();
	}
	if (!failed() && words[MEMORY_WORDS - 1] != *ended / MEMORY_WORDS)
		fail("the last word did not arrive");
	return NULL;
}

bool memory_case(const char *name, uint64_t items)
{
	struct world w = world_make(QV_CHAN_MEMORY, MEMORY_WORDS * 8, 1, 2, 0, 0);
	struct end_args a = { .world = &w, .items = items };
	struct end_args b = { .world = &w, .self = 1, .items = items, .ended = &a.received };
	pthread_t threads[2];

	pthread_barrier_init(&together, NULL, 2);
	pthread_create(&threads[0], NULL, memory_writer, &a);
	pthread_create(&threads[1], NULL, memory_reader, &b);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	free(w.window);
	return end_case(name, a.received, b.received);
}
