// SPDX-License-Identifier: GPL-2.0-only
/* bench switch, timer, share: threads that measure each other, the clock, and the scheduler. */
#include <inmate/console.h>
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "../kernel/dispatch.h"
#include "../kernel/process/process.h"
#include "../kernel/thread.h"
#include "../kernel/vcpu/vcpu.h"
#include "samples.h"
#include "shell.h"

#define ROUND_TRIPS	2000
#define WAKE_UPS	10000
#define SLEEP_LEAST_US	50
#define SLEEP_SPREAD_US	200
#define SHARES		24		/* number of VCPUs, of 1 ms in 100 ms each */
#define SHARE_MS	1000

struct pair {
	struct wait_queue queues[2];
	int turn;			/* the thread that runs next: 0 or 1 */
	int left;			/* number of switches that are still to be done */
};

static struct pair pair;
static struct samples samples;
static struct wait_queue done;		/* the shell waits here for the threads of a bench */
/* number of these threads; interrupts are off while it changes */
static int running;
static volatile bool stopping;

static void thread_is_done(void)
{
	bool irqs = irq_save();

	running--;
	wake_all(&done);
	irq_restore(irqs);
}

static void wait_for_threads(void)
{
	bool irqs = irq_save();

	while (running)
		wait_on(&done);
	irq_restore(irqs);
}

/* Starts a thread. Prints an error and returns false if there is no memory. */
static bool start(const char *name, int vcpu, thread_function *fn, void *arg)
{
	bool irqs = irq_save(), started = thread_create(name, vcpu, fn, arg) >= 0;

	if (started)
		running++;
	irq_restore(irqs);
	if (!started)
		print("no memory for a thread\n");
	return started;
}

/*
 * Creates a VCPU for a bench. If it is rejected, prints the reason and returns a negative number.
 */
static int bench_vcpu(const char *name, uint64_t budget_us, uint64_t period_us)
{
	int vcpu = vcpu_create(name, MAIN_VCPU, budget_us, period_us, KERNEL_PID);

	if (vcpu < 0)
		print("no VCPU for it: %s\n", sched_error_text(vcpu));
	return vcpu;
}

static void drop_vcpu(int vcpu)
{
	while (vcpu >= 0 && vcpu_destroy(vcpu))
		thread_sleep_us(1000);
}

/* Lets the other thread run, and waits until that thread lets this one run. */
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
	uint64_t begin;

	while (pair.left > 0) {
		begin = rdtsc();
		pass(me);
		if (!me)
			samples_add(&samples, (rdtsc() - begin) / 2);
	}
	wake_all(&pair.queues[!me]);
	thread_is_done();
}

/* Measures the switch between two threads. Returns false if nothing was measured. */
static bool bench_pair(const char *what, int first, int second)
{
	bool measured;

	if (!samples_open(&samples, ROUND_TRIPS)) {
		print("no memory for it\n");
		return false;
	}
	pair = (struct pair){ .left = 2 * ROUND_TRIPS };
	if (start("bench0", first, play, (void *)0) && !start("bench1", second, play, (void *)1))
		pair.left = 0;
	wake_all(&pair.queues[0]);
	wait_for_threads();
	measured = samples.n;
	if (measured)
		samples_print(&samples, what);
	samples_close(&samples);
	return measured;
}

int bench_switch(void)
{
	int one = bench_vcpu("bench0", 5000, 50000), two = bench_vcpu("bench1", 5000, 50000);

	bool measured = one >= 0 && two >= 0 &&
			bench_pair("switch-threads", one, one) &&
			bench_pair("switch-vcpus", one, two);

	drop_vcpu(one);
	drop_vcpu(two);
	return measured ? 0 : SHELL_FAILED;
}

/* Sleeps for pseudo-random times, so that they have no common pattern with the timer. */
static void sleeper(void *arg)
{
	uint64_t target, seed = 1;
	int i;

	(void)arg;
	for (i = 0; i < WAKE_UPS; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		target = rdtsc() + timer_from_us(SLEEP_LEAST_US + (seed >> 33) % SLEEP_SPREAD_US);
		thread_sleep_until(target);
		samples_add(&samples, rdtsc() - target);
	}
	thread_is_done();
}

int bench_timer(void)
{
	int vcpu = bench_vcpu("bench", 500, 5000);
	bool measured = false;

	if (vcpu >= 0 && samples_open(&samples, WAKE_UPS)) {
		if (start("bench", vcpu, sleeper, NULL))
			wait_for_threads();
		measured = samples.n;
		if (measured)
			samples_print(&samples, "timer");
		samples_close(&samples);
	} else if (vcpu >= 0) {
		print("no memory for it\n");
	}
	drop_vcpu(vcpu);
	return measured ? 0 : SHELL_FAILED;
}

static void spin(void *arg)
{
	(void)arg;
	while (!stopping)
		/* without PAUSE, which makes an emulator that counts instructions slow */
		;
	thread_is_done();
}

static void share_print(void)
{
	struct dispatch_cost before = dispatch_cost(), after;
	uint64_t begin = rdtsc(), took;

	thread_sleep_us(SHARE_MS * 1000);
	after = dispatch_cost();
	took = rdtsc() - begin;
	after.decisions -= before.decisions;
	after.cycles -= before.cycles;
	print("share vcpus=%d decisions=%lu cycles=%lu of=%lu ppm=%lu\n", SHARES, after.decisions,
	      after.cycles, took,
	      after.cycles * 1000000 / took);
}

/* A spinning thread ends when it runs next, which is at its next replenishment at the latest. */
int bench_share(void)
{
	int vcpus[SHARES], n = 0, status = SHELL_FAILED;

	stopping = false;
	for (; n < SHARES; n++) {
		vcpus[n] = bench_vcpu("bench", 1000, 100000);
		if (vcpus[n] < 0 || !start("bench", vcpus[n], spin, NULL))
			break;
	}
	if (n == SHARES) {
		share_print();
		status = 0;
	} else if (vcpus[n] >= 0) {
		drop_vcpu(vcpus[n]);
	}
	stopping = true;
	wait_for_threads();
	while (n)
		drop_vcpu(vcpus[--n]);
	return status;
}
