// SPDX-License-Identifier: GPL-2.0-only
/* bench switch, bench timer: threads that measure one another, and the clock. */
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "../kernel/thread.h"
#include "../kernel/vcpu.h"
#include "../mm/pages.h"
#include "shell.h"

#define SWITCHES	2000		/* there and back */
#define WAKE_UPS	10000
#define SLEEP_LEAST_US	50
#define SLEEP_SPREAD_US	200

struct pair {
	struct wait_queue queues[2];
	int turn;			/* whose it is: 0, 1 */
	int left;			/* switches */
	uint64_t begin, took;		/* TSC */
};

static struct pair pair;
static uint32_t *errors;		/* cycles that a wake-up came late */
static volatile int running;		/* threads of ours */

static void thread_is_done(void)
{
	bool irqs = irq_save();

	running--;
	irq_restore(irqs);
}

/* Give the turn to the other, and wait until it is back. */
static void pass(int me)
{
	bool irqs = irq_save();

	pair.left--;
	pair.turn = !me;
	wake_all(&pair.queues[!me]);
	while (pair.turn != me && pair.left > 0)
		wait_on(&pair.queues[me]);
	irq_restore(irqs);
}

static void play(void *arg)
{
	int me = (int)(intptr_t)arg;

	if (!me)
		pair.begin = rdtsc();
	while (pair.left > 0)
		pass(me);
	pair.took = rdtsc() - pair.begin;
	wake_all(&pair.queues[!me]);
	thread_is_done();
}

static void wait_for_threads(void)
{
	while (running)
		thread_sleep_us(1000);
}

static void bench_pair(const char *what, int first, int second)
{
	pair = (struct pair){ .left = 2 * SWITCHES };
	running = 2;
	if (thread_create("bench0", first, play, (void *)0) < 0 || thread_create("bench1", second, play, (void *)1) < 0) {
		print("no memory for threads\n");
		running = 0;
		return;
	}
	wait_for_threads();
	print("switch %s rounds=%d mean=%lu\n", what, 2 * SWITCHES, pair.took / (2 * SWITCHES));
}

/* A VCPU of a bench, or best effort, and why. */
static int bench_vcpu(const char *name, uint64_t budget_us, uint64_t period_us)
{
	int vcpu = vcpu_create(name, MAIN_VCPU, budget_us, period_us);

	if (vcpu < 0)
		print("no VCPU for it: %s\n", sched_error_text(vcpu));
	return vcpu;
}

static void drop_vcpu(int vcpu)
{
	while (vcpu >= 0 && vcpu_destroy(vcpu))
		thread_sleep_us(1000);
}

void bench_switch(void)
{
	int one = bench_vcpu("bench0", 5000, 50000), two = bench_vcpu("bench1", 5000, 50000);

	if (one >= 0 && two >= 0) {
		bench_pair("threads", one, one);
		bench_pair("vcpus", one, two);
	}
	drop_vcpu(one);
	drop_vcpu(two);
}

/* Sleeps of lengths that follow no pattern the timer could share. */
static void sleeper(void *arg)
{
	uint64_t target, late, seed = 1;
	int i;

	(void)arg;
	for (i = 0; i < WAKE_UPS; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		target = rdtsc() + timer_from_us(SLEEP_LEAST_US + (seed >> 33) % SLEEP_SPREAD_US);
		thread_sleep_until(target);
		late = rdtsc() - target;
		errors[i] = late > UINT32_MAX ? UINT32_MAX : (uint32_t)late;
	}
	thread_is_done();
}

/* Heap sort: no recursion, no memory. */
static void sift(uint32_t *a, uint32_t root, uint32_t n)
{
	uint32_t child, value = a[root];

	for (; (child = 2 * root + 1) < n; root = child) {
		if (child + 1 < n && a[child + 1] > a[child])
			child++;
		if (a[child] <= value)
			break;
		a[root] = a[child];
	}
	a[root] = value;
}

static void sort(uint32_t *a, uint32_t n)
{
	uint32_t i, last;

	for (i = n / 2; i-- > 0;)
		sift(a, i, n);
	while (n > 1) {
		last = a[--n];
		a[n] = a[0];
		a[0] = last;
		sift(a, 0, n);
	}
}

void bench_timer(void)
{
	const uint64_t pages = (WAKE_UPS * sizeof(*errors) + PAGE_SIZE - 1) / PAGE_SIZE;
	int vcpu = bench_vcpu("bench", 500, 5000);
	bool irqs = irq_save();

	errors = (uint32_t *)pages_alloc(pages);
	irq_restore(irqs);
	running = 1;
	if (errors && vcpu >= 0 && thread_create("bench", vcpu, sleeper, NULL) >= 0) {
		wait_for_threads();
		sort(errors, WAKE_UPS);
		print("timer rounds=%d min=%u p50=%u p99=%u p99.99=%u max=%u\n", WAKE_UPS, errors[0], errors[WAKE_UPS / 2],
		      errors[WAKE_UPS - WAKE_UPS / 100 - 1], errors[WAKE_UPS - WAKE_UPS / 10000 - 1], errors[WAKE_UPS - 1]);
	}
	drop_vcpu(vcpu);
	irqs = irq_save();
	if (errors)
		pages_free((uint64_t)errors, pages);
	irq_restore(irqs);
}
