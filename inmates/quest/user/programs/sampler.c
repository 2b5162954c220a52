// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * sampler [SECONDS]: samples a signal each millisecond on a VCPU of its own, and writes each sample
 * to the channel `sensor`. Takes set points from the channel `orders`. The signal is that of a
 * simulated oven: it approaches the set point, and a disturbance comes and goes.
 */
#include <channel.h>
#include <quest.h>
#include <stdio.h>
#include <stdlib.h>

#define PERIOD_US	1000
#define BUDGET_US	100
#define NS_PER_S	(1000l * 1000 * 1000)
#define APPROACH	0.004		/* part of the distance in a period: 250 ms to 63 % */
#define SWING		400		/* periods in which the disturbance rises, and falls */

/* An item of `sensor` */
struct sample {
	uint64_t number, ns;
	double value, set_point;
};

static int must(int result, const char *what)
{
	if (result >= 0)
		return result;
	perror_of(what, result);
	exit(EXIT_FAILURE);
}

static double disturbance(uint64_t number)
{
	uint64_t phase = number % (2 * SWING);

	return (double)(phase < SWING ? phase : 2 * SWING - phase) / SWING - 0.5;
}

static int64_t ns_of(const struct timespec *t)
{
	return t->tv_sec * NS_PER_S + t->tv_nsec;
}

/* Waits until the next period. `qvctl latency` shows how late that was. */
static void wait_for_period(struct timespec *next)
{
	struct timespec now;

	next->tv_nsec += PERIOD_US * 1000;
	if (next->tv_nsec >= NS_PER_S) {
		next->tv_nsec -= NS_PER_S;
		next->tv_sec++;
	}
	(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL);
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	(void)latency_count("sample", (uint64_t)(ns_of(&now) - ns_of(next)), PERIOD_US * 1000);
}

int main(int argc, char **argv)
{
	uint64_t periods = argc > 1 ? strtoul(argv[1], NULL, 10) * 1000000 / PERIOD_US : UINT64_MAX;
	struct sched_param vcpu = { .type = MAIN_VCPU, .C = BUDGET_US, .T = PERIOD_US,
				    .unit = VCPU_US };
	int sensor = must(channel_open("sensor"), "sensor");
	int orders = must(channel_open("orders"), "orders");
	struct sample now = { .set_point = 20 };
	struct timespec next;

	must(vcpu_bind_task(must(vcpu_create(&vcpu), "vcpu_create")), "vcpu_bind_task");
	clock_gettime(CLOCK_MONOTONIC, &next);
	while (now.number < periods) {
		wait_for_period(&next);
		while (channel_read(orders, &now.set_point, sizeof(now.set_point)) > 0)
			;
		now.value += (now.set_point + disturbance(now.number) - now.value) * APPROACH;
		now.ns = (uint64_t)ns_of(&next);
		now.number++;
		must(channel_write(sensor, &now, sizeof(now)), "sensor");
	}
	printf("%lu samples\n", (unsigned long)now.number);
	return 0;
}
