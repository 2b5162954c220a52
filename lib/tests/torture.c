// SPDX-License-Identifier: GPL-2.0-only
/*
 * torture [ITEMS [WORD]]: sends ITEMS items (10^7) through each type of channel between threads.
 * Checks that each item is whole, that items are in order, and that none is lost where the type
 * promises it. WORD: only the cases with it in their names. Ends with `N passed, N failed`.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include "world.h"

#define WORDS	8		/* of an item */
#define RESTARTS 1000

static pthread_barrier_t together;	/* all ends of a stream begin at the same time */

struct end_args {
	struct world *world;
	uint32_t self;
	bool zero_copy;
	uint64_t items;
	uint64_t received, lost;	/* results */
	const char *wrong;
};

static void fill(uint64_t *item, uint64_t value, uint64_t generation)
{
	uint32_t i;

	for (i = 0; i < WORDS; i++)
		item[i] = (value << 16 | generation % 0x10000) ^ (uint64_t)i << 56;
}

/* Leaves an item half written. A reader of a ring that drops the oldest may look at it. */
static void fill_half(uint64_t *item)
{
	uint32_t i;

	for (i = 0; i < WORDS / 2; i++)
		__atomic_store_n(&item[i], ~0ull, __ATOMIC_RELEASE);
}

/* Returns the value of an item, or 0 if the item is torn. */
static uint64_t whole(const uint64_t *item)
{
	uint32_t i;

	for (i = 1; i < WORDS; i++)
		if ((item[i] ^ item[0]) != (uint64_t)i << 56)
			return 0;
	return item[0] >> 16;
}

static int send_item(struct end_args *a, struct qv_end *end, uint64_t value)
{
	uint64_t item[WORDS];
	void *room = item;
	int result = 0;

	if (a->zero_copy)
		result = qv_end_claim(end, &room);
	if (result)
		return result;
	fill(room, value, end->generation);
	if (a->zero_copy)
		return qv_end_commit(end, sizeof(item));
	return qv_end_write(end, item, sizeof(item));
}

/* Sets *value to 0 if the item was torn. */
static int take_item(struct end_args *a, struct qv_end *end, uint64_t *value, struct qv_item *about)
{
	uint64_t item[WORDS];
	const void *there;
	int result;

	if (!a->zero_copy) {
		result = qv_end_read(end, item, sizeof(item), about);
		*value = result ? 0 : whole(item);
		return result;
	}
	result = qv_end_peek(end, &there, about);
	if (result)
		return result;
	*value = whole(there);
	return qv_end_release(end);
}

static void *writer(void *arg)
{
	struct end_args *a = arg;
	uint64_t value;
	struct qv_end end;
	int result;

	result = world_attach(a->world, &end, a->self);
	pthread_barrier_wait(&together);
	for (value = 1; !result && value <= a->items; value++) {
		while ((result = send_item(a, &end, value)) == QV_CHAN_FULL)
			sched_yield();
		if (value % 64 == 0)	/* else readers see only the last item where CPUs are few */
			sched_yield();
	}
	if (result)
		a->wrong = qv_chan_sentence(result);
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
	while (!a->wrong && last < a->items) {
		result = take_item(a, &end, &value, &about);
		if (result == QV_CHAN_STOPPED)
			break;
		if (result == QV_CHAN_NOTHING || result == QV_CHAN_LAPPED ||
		    result == QV_CHAN_ABSENT) {
			sched_yield();
			continue;
		}
		a->wrong = result ? qv_chan_sentence(result) : judge(a, value, last, &about);
		a->received++;
		a->lost += about.lost;
		last = value;
	}
	return NULL;
}

static bool report(const char *name, const char *wrong, uint64_t items, uint64_t received)
{
	printf("%s: %lu items sent, %lu received%s%s\n", name, (unsigned long)items,
	       (unsigned long)received, wrong ? ", FAILED: " : "", wrong ? wrong : "");
	fflush(stdout);
	return !wrong;
}

static bool stream(const char *name, uint64_t items, uint32_t type, uint32_t full, uint32_t readers,
		   bool zero_copy)
{
	struct world w = world_make(type, WORDS * 8, type == QV_CHAN_RING ? 64 : 1, 1 + readers,
				    full, 0);
	struct end_args args[QV_CHAN_MAX_ENDS] = { 0 };
	pthread_t threads[QV_CHAN_MAX_ENDS];
	const char *wrong = NULL;
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
	for (i = 0; i <= readers; i++) {
		if (i)
			pthread_join(threads[i], NULL);
		wrong = wrong ? wrong : args[i].wrong;
		received += args[i].received;
	}
	free(w.window);
	return report(name, wrong, items, received);
}

/* ---- mailbox: each message is answered, so both directions are in use ---- */

static void *mailbox_end(void *arg)
{
	struct end_args *a = arg;
	uint64_t value, next = 1 + a->self;	/* end 0 sends 1, 3 ..., end 1 answers 2, 4 ... */
	struct qv_item about;
	struct qv_end end;
	int result = world_attach(a->world, &end, a->self);
	bool mine = !a->self;

	while (!a->wrong && a->received < a->items) {
		result = mine ? send_item(a, &end, next) : take_item(a, &end, &value, &about);
		if (result == QV_CHAN_NOTHING || result == QV_CHAN_ABSENT) {
			sched_yield();
			continue;
		}
		if (result)
			a->wrong = qv_chan_sentence(result);
		else if (mine)
			next += 2;
		else if (value != a->received * 2 + 2 - a->self)
			a->wrong = value ? "a message is out of order" : "a message is torn";
		else
			a->received++;
		mine = !mine;
	}
	if (a->self && !a->wrong && send_item(a, &end, next))
		a->wrong = "the last answer is refused";
	return NULL;
}

static bool mailbox(const char *name, uint64_t items, bool zero_copy)
{
	struct world w = world_make(QV_CHAN_MAILBOX, WORDS * 8, 1, 2, 0, 0);
	struct end_args args[2];
	pthread_t threads[2];
	uint32_t i;

	for (i = 0; i < 2; i++) {
		args[i] = (struct end_args){ .world = &w, .self = i, .zero_copy = zero_copy,
					     .items = items / 2 };
		pthread_create(&threads[i], NULL, mailbox_end, &args[i]);
	}
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	free(w.window);
	return report(name, args[0].wrong ? args[0].wrong : args[1].wrong, items,
		      args[0].received + args[1].received);
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
		a->wrong = "the writer cannot write";
	pthread_barrier_wait(&together);
	for (words = data, n = 0; !a->wrong && n < a->items; n++) {
		__atomic_store_n(&words[n % MEMORY_WORDS], n / MEMORY_WORDS + 1, __ATOMIC_RELEASE);
		if (n % 4096 == 0)
			sched_yield();
	}
	return NULL;
}

/* Loads the words from the last to the first: none is older than the one loaded before. */
static void *memory_reader(void *arg)
{
	struct end_args *a = arg;
	uint64_t i, value, before = 0, size, *words, last = a->items / MEMORY_WORDS;
	struct qv_end end;
	void *data;
	bool may;

	if (world_attach(a->world, &end, a->self) || qv_end_memory(&end, &data, &size, &may) || may)
		a->wrong = "the reader may write";
	pthread_barrier_wait(&together);
	for (words = data; !a->wrong && before < last; ) {
		for (before = 0, i = MEMORY_WORDS; i--; before = value) {
			value = __atomic_load_n(&words[i], __ATOMIC_ACQUIRE);
			if (value < before || value > last + 1)
				a->wrong = "a word is torn or out of order";
			a->received++;
		}
		before = __atomic_load_n(&words[MEMORY_WORDS - 1], __ATOMIC_ACQUIRE);
		sched_yield();
	}
	return NULL;
}

static bool memory(const char *name, uint64_t items)
{
	struct world w = world_make(QV_CHAN_MEMORY, MEMORY_WORDS * 8, 1, 2, 0, 0);
	struct end_args a = { .world = &w, .items = items };
	struct end_args b = { .world = &w, .self = 1, .items = items };
	pthread_t threads[2];

	pthread_barrier_init(&together, NULL, 2);
	pthread_create(&threads[0], NULL, memory_writer, &a);
	pthread_create(&threads[1], NULL, memory_reader, &b);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	free(w.window);
	return report(name, a.wrong ? a.wrong : b.wrong, items, b.received);
}

/* ---- ends that die anywhere and restart, while the other end continues ---- */

static void *restarting_writer(void *arg)
{
	struct end_args *a = arg;
	uint64_t value, life, claims;
	struct qv_end end;
	void *room;

	for (life = 0; life < RESTARTS; life++) {
		world_attach(a->world, &end, 0);
		for (value = 1; value <= 1 + life % 97; value++) {
			while (send_item(a, &end, value) == QV_CHAN_FULL)
				sched_yield();
			if (value % 16 == life % 16)	/* the reader looks at any point */
				sched_yield();
		}
		for (claims = life % 3; claims; claims--)	/* dies in the middle of an item */
			if (!qv_end_claim(&end, &room)) {
				fill_half(room);
				sched_yield();
			}
		manage_state(a->world->window, 0,
			     life % 2 ? QV_CHAN_IS_STOPPED : QV_CHAN_IS_FAILED);
		if (life + 1 < RESTARTS)
			manage_start(a->world->window, 0);
	}
	return NULL;
}

static void *patient_reader(void *arg)
{
	struct end_args *a = arg;
	uint64_t item[WORDS], last = 0, bound = 0;
	struct qv_item about;
	struct qv_end end;
	int result = world_attach(a->world, &end, 1);

	while (!a->wrong) {
		result = qv_end_read(&end, item, sizeof(item), &about);
		if (!result) {
			if (end.peer_generation != bound)
				last = 0;
			bound = end.peer_generation;
			if (!whole(item) || (item[0] & 0xffff) != bound % 0x10000)
				a->wrong = "an item is torn, or of an older life";
			else if (whole(item) <= last)
				a->wrong = "an item came twice";
			last = whole(item);
			a->received++;
		} else if (result == QV_CHAN_CORRUPT || result < QV_CHAN_LAPPED) {
			a->wrong = qv_chan_sentence(result);
		} else if (__atomic_load_n(&a->items, __ATOMIC_SEQ_CST)) {
			break;
		} else {
			sched_yield();
		}
	}
	return NULL;
}

static bool writer_restarts(const char *name, uint32_t type, uint32_t full)
{
	struct world w = world_make(type, WORDS * 8, type == QV_CHAN_RING ? 16 : 1, 2, full,
				    QV_CHAN_RECONNECT);
	struct end_args a = { .world = &w }, b = { .world = &w };
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, restarting_writer, &a);
	pthread_create(&threads[1], NULL, patient_reader, &b);
	pthread_join(threads[0], NULL);
	__atomic_store_n(&b.items, 1, __ATOMIC_SEQ_CST);
	pthread_join(threads[1], NULL);
	free(w.window);
	return report(name, b.wrong, RESTARTS, b.received);
}

static void *restarting_reader(void *arg)
{
	struct end_args *a = arg;
	uint64_t value, life, last = 0, n;
	struct qv_item about;
	struct qv_end end;

	for (life = 0; life < RESTARTS && !a->wrong; life++) {
		world_attach(a->world, &end, 1);
		for (n = 0; n < 1 + life % 37 && !a->wrong; ) {
			int result = take_item(a, &end, &value, &about);

			if (result == QV_CHAN_NOTHING || result == QV_CHAN_ABSENT) {
				sched_yield();
				continue;
			}
			if (result || !value)
				a->wrong = result ? qv_chan_sentence(result) : "an item is torn";
			/* a new reader may get items again, and misses none */
			else if (value > last + 1)
				a->wrong = "an item is lost";
			last = value;
			n++;
		}
		manage_state(a->world->window, 1, QV_CHAN_IS_FAILED);
		manage_start(a->world->window, 1);
	}
	a->received = last;
	__atomic_store_n(&a->items, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static bool reader_restarts(const char *name)
{
	struct world w = world_make(QV_CHAN_RING, WORDS * 8, 16, 2, QV_CHAN_FULL_ERROR,
				    QV_CHAN_RECONNECT);
	struct end_args a = { .world = &w };
	uint64_t value = 1;
	struct qv_end end;
	pthread_t thread;
	int result = world_attach(&w, &end, 0);

	pthread_create(&thread, NULL, restarting_reader, &a);
	while (!__atomic_load_n(&a.items, __ATOMIC_SEQ_CST)) {
		struct end_args plain = { .world = &w };

		result = send_item(&plain, &end, value);
		if (!result)
			value++;
		else if (result == QV_CHAN_CORRUPT || result == QV_CHAN_RESTARTED)
			break;
		else
			sched_yield();
	}
	pthread_join(thread, NULL);
	free(w.window);
	if (!a.wrong && !a.items)
		a.wrong = qv_chan_sentence(result);
	return report(name, a.wrong, value, a.received);
}

struct torture_case {
	const char *name;
	uint32_t type, full, readers;
	bool zero_copy, restarts;
};

static const struct torture_case cases[] = {
	{ "ring-error", QV_CHAN_RING, QV_CHAN_FULL_ERROR, 1, false, false },
	{ "ring-error-zero-copy", QV_CHAN_RING, QV_CHAN_FULL_ERROR, 1, true, false },
	{ "ring-drop-newest", QV_CHAN_RING, QV_CHAN_DROP_NEWEST, 1, false, false },
	{ "ring-drop-oldest", QV_CHAN_RING, QV_CHAN_DROP_OLDEST, 1, false, false },
	{ "four-slot", QV_CHAN_FOUR_SLOT, 0, 1, false, false },
	{ "four-slot-zero-copy", QV_CHAN_FOUR_SLOT, 0, 1, true, false },
	{ "four-slot-8-readers", QV_CHAN_FOUR_SLOT, 0, 8, false, false },
	{ "mailbox", QV_CHAN_MAILBOX, 0, 1, false, false },
	{ "mailbox-zero-copy", QV_CHAN_MAILBOX, 0, 1, true, false },
	{ "memory", QV_CHAN_MEMORY, 0, 1, false, false },
	{ "ring-writer-restarts", QV_CHAN_RING, QV_CHAN_FULL_ERROR, 1, false, true },
	{ "ring-oldest-writer-restarts", QV_CHAN_RING, QV_CHAN_DROP_OLDEST, 1, false, true },
	{ "four-slot-writer-restarts", QV_CHAN_FOUR_SLOT, 0, 1, false, true },
	{ "ring-reader-restarts", QV_CHAN_RING, QV_CHAN_FULL_ERROR, 0, false, true },
};

static bool run(const struct torture_case *c, uint64_t items)
{
	if (c->restarts)
		return c->readers ? writer_restarts(c->name, c->type, c->full) :
				    reader_restarts(c->name);
	if (c->type == QV_CHAN_MAILBOX)
		return mailbox(c->name, items, c->zero_copy);
	if (c->type == QV_CHAN_MEMORY)
		return memory(c->name, items);
	return stream(c->name, items, c->type, c->full, c->readers, c->zero_copy);
}

int main(int argc, char **argv)
{
	uint64_t items = argc > 1 ? strtoull(argv[1], NULL, 0) : 10000000;
	uint32_t passed = 0, failed = 0;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (argc > 2 && !strstr(cases[i].name, argv[2]))
			continue;
		if (run(&cases[i], items))
			passed++;
		else
			failed++;
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
