// SPDX-License-Identifier: GPL-2.0-only
/*
 * buffer: the bounded buffer. Producers and consumers share a ring of a few places. A mutex
 * protects the ring. One condition variable signals room, and the other one signals an item. It
 * uses no function of Quest's own, so it compiles on any system with threads.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES		4
#define PRODUCERS	3
#define CONSUMERS	2
#define ITEMS		500	/* number of items of each producer */

struct ring {
	pthread_mutex_t mutex;
	pthread_cond_t has_room, has_item;
	int item[PLACES];
	int count, first;
	int closed;		/* true when the producers have ended */
};

static struct ring ring = {
	.mutex = PTHREAD_MUTEX_INITIALIZER, .has_room = PTHREAD_COND_INITIALIZER,
	.has_item = PTHREAD_COND_INITIALIZER,
};

static void must(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "buffer: %s: %s\n", what, strerror(error));
		exit(EXIT_FAILURE);
	}
}

static void put(struct ring *r, int item)
{
	must(pthread_mutex_lock(&r->mutex), "lock");
	while (r->count == PLACES)
		must(pthread_cond_wait(&r->has_room, &r->mutex), "wait");
	r->item[(r->first + r->count++) % PLACES] = item;
	must(pthread_cond_signal(&r->has_item), "signal");
	must(pthread_mutex_unlock(&r->mutex), "unlock");
}

/* Takes an item. Returns 0 if the ring is closed and empty. */
static int get(struct ring *r, int *item)
{
	int got;

	must(pthread_mutex_lock(&r->mutex), "lock");
	while (!r->count && !r->closed)
		must(pthread_cond_wait(&r->has_item, &r->mutex), "wait");
	got = r->count > 0;
	if (got) {
		*item = r->item[r->first];
		r->first = (r->first + 1) % PLACES;
		r->count--;
		must(pthread_cond_signal(&r->has_room), "signal");
	}
	must(pthread_mutex_unlock(&r->mutex), "unlock");
	return got;
}

static void *produce(void *arg)
{
	int i, first = *(int *)arg;

	for (i = 0; i < ITEMS; i++)
		put(&ring, first + i);
	return NULL;
}

struct sum {
	long items, total;
};

static void *consume(void *arg)
{
	struct sum *sum = arg;
	int item;

	while (get(&ring, &item)) {
		sum->items++;
		sum->total += item;
	}
	return sum;
}

int main(void)
{
	pthread_t producers[PRODUCERS], consumers[CONSUMERS];
	struct sum sums[CONSUMERS] = { { 0, 0 } }, all = { 0, 0 };
	int first[PRODUCERS], i;
	void *result;

	for (i = 0; i < CONSUMERS; i++)
		must(pthread_create(&consumers[i], NULL, consume, &sums[i]), "create");
	for (i = 0; i < PRODUCERS; i++) {
		first[i] = i * ITEMS;
		must(pthread_create(&producers[i], NULL, produce, &first[i]), "create");
	}
	for (i = 0; i < PRODUCERS; i++)
		must(pthread_join(producers[i], NULL), "join");
	must(pthread_mutex_lock(&ring.mutex), "lock");
	ring.closed = 1;
	must(pthread_cond_broadcast(&ring.has_item), "broadcast");
	must(pthread_mutex_unlock(&ring.mutex), "unlock");
	for (i = 0; i < CONSUMERS; i++) {
		must(pthread_join(consumers[i], &result), "join");
		all.items += ((struct sum *)result)->items;
		all.total += ((struct sum *)result)->total;
	}
	if (pthread_mutex_trylock(&ring.mutex) || pthread_mutex_trylock(&ring.mutex) != EBUSY)
		return EXIT_FAILURE;
	printf("%ld items, the mean is %.3f\n", all.items, (double)all.total / (double)all.items);
	return EXIT_SUCCESS;
}
