// SPDX-License-Identifier: GPL-2.0-only
/* Ends that die anywhere and restart, while the other end continues. */
#include <pthread.h>
#include <sched.h>
#include "torture.h"

#define RESTARTS 1000

static void *restarting_writer(void *arg)
{
	struct end_args *a = arg;
	uint64_t value, life, claims;
	struct qv_end end;
	void *room;

	for (life = 0; life < RESTARTS && !is_enough(); life++) {
		world_attach(a->world, &end, 0);
		for (value = 1; value <= 1 + life % 97; value++) {
			while (send_item(a, &end, value) == QV_CHAN_FULL && !failed())
				give_way();
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
	a->received = life;
	return NULL;
}

static void *patient_reader(void *arg)
{
	struct end_args *a = arg;
	uint64_t item[WORDS], last = 0, bound = 0;
	struct qv_item about;
	struct qv_end end;
	int result = world_attach(a->world, &end, 1);

	while (!failed()) {
		result = qv_end_read(&end, item, sizeof(item), &about);
		if (!result) {
			if (end.peer_generation != bound)
				last = 0;
			bound = end.peer_generation;
			if (!whole(item) || (item[0] & 0xffff) != bound % 0x10000)
				fail("an item is torn, or of an older life");
			else if (whole(item) <= last)
				fail("an item came twice");
			last = whole(item);
			a->received++;
		} else if (result == QV_CHAN_CORRUPT || result < QV_CHAN_LAPPED) {
			fail(qv_chan_sentence(result));
		} else if (__atomic_load_n(&a->items, __ATOMIC_SEQ_CST)) {
			break;
		} else {
			give_way();
		}
	}
	return NULL;
}

bool writer_restarts_case(const char *name, uint32_t type, uint32_t full)
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
	return end_case(name, a.received, b.received);
}

/* ---- a writer that ends right after an item, which the reader must still find ---- */

static void *ending_writer(void *arg)
{
	struct end_args *a = arg;
	uint64_t life;
	struct qv_end end;

	for (life = 1; life <= __atomic_load_n(&a->items, __ATOMIC_SEQ_CST); life++) {
		world_attach(a->world, &end, 0);
		__atomic_store_n(&a->lost, life, __ATOMIC_SEQ_CST);	/* the life has begun */
		while (send_item(a, &end, life) == QV_CHAN_ABSENT && !failed())
			give_way();
		manage_state(a->world->window, 0,
			     life % 2 ? QV_CHAN_IS_STOPPED : QV_CHAN_IS_FAILED);
		while (__atomic_load_n(&a->received, __ATOMIC_SEQ_CST) < life)
			give_way();
		manage_start(a->world->window, 0);
	}
	return NULL;
}

bool writer_ends_case(const char *name, uint64_t items, uint32_t type)
{
	struct world w = world_make(type, WORDS * 8, 1, 2,
				    type == QV_CHAN_RING ? QV_CHAN_FULL_ERROR : 0,
				    QV_CHAN_RECONNECT);
	struct end_args a = { .world = &w, .items = items / 100 + 1 };
	struct qv_end end;
	pthread_t thread;
	uint64_t life, value = 0;

	world_attach(&w, &end, 1);
	pthread_create(&thread, NULL, ending_writer, &a);
	for (life = 1; life <= a.items; life++) {
		struct qv_item about;
		int result;

		while (__atomic_load_n(&a.lost, __ATOMIC_SEQ_CST) < life)
			give_way();
		while (result = take_item(&a, &end, &value, &about),
		       result == QV_CHAN_NOTHING || result == QV_CHAN_RESTARTED ||
		       result == QV_CHAN_ABSENT)
			give_way();
		if (result || value != life)
			fail("the writer ended, and its last item was not found");
		if (is_enough())
			__atomic_store_n(&a.items, life, __ATOMIC_SEQ_CST);
		__atomic_store_n(&a.received, life, __ATOMIC_SEQ_CST);
	}
	pthread_join(thread, NULL);
	free(w.window);
	return end_case(name, a.items, a.received);
}

static void *restarting_reader(void *arg)
{
	struct end_args *a = arg;
	uint64_t value, life, last = 0, n;
	struct qv_item about;
	struct qv_end end;

	for (life = 0; life < RESTARTS && !is_enough(); life++) {
		world_attach(a->world, &end, 1);
		for (n = 0; n < 1 + life % 37 && !failed(); ) {
			int result = take_item(a, &end, &value, &about);

			if (result == QV_CHAN_NOTHING || result == QV_CHAN_ABSENT) {
				give_way();
				continue;
			}
			if (result || !value)
				fail(result ? qv_chan_sentence(result) : "an item is torn");
			/* a new reader may get items again, and misses none */
			else if (value > last + 1)
				fail("an item is lost");
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

bool reader_restarts_case(const char *name)
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
			fail(qv_chan_sentence(result));
		else
			give_way();
	}
	pthread_join(thread, NULL);
	free(w.window);
	return end_case(name, value - 1, a.received);
}
