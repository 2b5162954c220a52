// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The driver of counters on the system timer. They are read from the clock, so nothing runs between
 * expiries: the timer is armed for the earliest one.
 *
 * A due time is at most 2^32 ticks of 0.5 s away, which are 2^63 cycles at 4 GHz.
 */
#include "kernel.h"
#include "scaled.h"

uint64_t os_systimer_epoch;

/* Cycles * 10^6 in a tick. */
static __attribute__((noinline)) uint64_t scale_of(CounterType id)
{
	return (uint64_t)os_counter_conf[id].tick_ns * os_port_khz();
}

static uint64_t ticks(CounterType id)
{
	return os_scaled(os_port_cycles() - os_systimer_epoch, OS_NS_PER_MS, scale_of(id));
}

/* Rounds down: the clock advances by a cycle before the handler reads it. */
static void arm(CounterType id)
{
	const struct os_timer *first = os_counters[id].first;

	if (first)
		os_port_arm(os_systimer_epoch + os_scaled(scale_of(id), first->due, OS_NS_PER_MS));
}

const struct os_driver os_systimer = { ticks, arm };

void os_systimer_expire(void)
{
	CounterType id;

	os_port_off();
	for (id = 0; id < os_num_counters; id++) {
		if (os_counter_conf[id].tick_ns) {
			os_counter_expire(id);
			arm(id);
		}
	}
	os_port_on();
}

void os_start_counters(AppModeType mode)
{
	(void)mode;
	os_systimer_epoch = os_port_cycles();
}
