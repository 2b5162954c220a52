// SPDX-License-Identifier: GPL-2.0-only
/* Many threads on one queue: wake_many() lets others run, and wakes those that waited before. */
#include "../../quest/kernel/wait.h"
#include "unit.h"
#include "world.h"

#define WAITERS	40

static struct wait_queue queue;
static unsigned int woken[WAITERS], begun;
static bool over, meanwhile;

static unsigned int awake(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < WAITERS; i++)
		n += woken[i];
	return n;
}

/* Waits again at once, as a reader does to which another one has left nothing. */
static void waiter(void *unused)
{
	unsigned int me = begun++;

	(void)unused;
	while (!over) {
		wait_on(&queue);
		woken[me]++;
	}
}

static void waker(void *unused)
{
	unsigned int i;

	(void)unused;
	while (begun < WAITERS)
		thread_sleep_us(1000);
	wake_many(&queue);
	meanwhile |= awake();
	/* a thread that has run meanwhile waits again, and is not woken a second time */
	for (i = 0; i < WAITERS; i++)
		CHECK(woken[i] <= 1);
	over = true;
	wake_many(&queue);
}

static void do_nothing(void)
{
}

TEST(wake_many_wakes_each_waiter_once)
{
	unsigned int seed, i;

	for (seed = 1; seed <= 50; seed++) {
		unit_case("seed %u", seed);
		world_begin(seed, do_nothing);
		begun = 0;
		over = false;
		for (i = 0; i < WAITERS; i++) {
			woken[i] = 0;
			world_thread(waiter);
		}
		world_thread(waker);
		world_run();
		CHECK(!queue.head && !queue.tail);
		for (i = 0; i < WAITERS; i++)
			CHECK(woken[i]);
	}
	CHECK(meanwhile);
}
