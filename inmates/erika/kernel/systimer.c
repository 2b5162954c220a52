// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The driver of counters on the system timer. They are read from the clock, so nothing runs between
 * expiries: the timer is armed for the earliest one. These counters need no value of their own, so
 * `now` is the length of a tick in units of 2^-32 cycle.
 *
 * A due time is at most 2^32 ticks of 0.5 s away, which are 2^63 cycles at 4 GHz.
 */
#include "kernel.h"

#define NS_PER_MS	1000000u

static uint64_t epoch;			/* the clock at StartOS() */
static uint64_t armed = UINT64_MAX;	/* the time for which the timer is armed, or earlier */

/* Rounds up, so that the timer does not come too early. */
static uint64_t to_cycles(uint64_t ticks, uint64_t scale)
{
	return (uint64_t)(((unsigned __int128)ticks * scale + UINT32_MAX) >> 32);
}

/* Returns cycles * 2^32 / scale, which is less than 2^64. */
static uint64_t to_ticks(uint64_t cycles, uint64_t scale)
{
	uint64_t ticks, remainder;

	__asm__("divq %4" : "=a"(ticks), "=d"(remainder)
		: "a"(cycles << 32), "d"(cycles >> 32), "r"(scale) : "cc");
	return ticks;
}

static uint64_t ticks(const struct os_counter *counter)
{
	return to_ticks(os_port_cycles() - epoch, counter->now);
}

static void arm(const struct os_counter *counter)
{
	uint64_t at = epoch + to_cycles(counter->first->due, counter->now);

	if (at < armed) {
		armed = at;
		os_port_arm(at);
	}
}

const struct os_driver os_systimer = { ticks, arm };

void os_systimer_expire(void)
{
	struct os_counter *counter = os_counters;
	CounterType id;

	os_port_off();
	armed = UINT64_MAX;
	for (id = 0; id < os_num_counters; id++, counter++) {
		if (os_counter_conf[id].driver != &os_systimer)
			continue;
		os_counter_expire(counter, ticks(counter));
		if (counter->first)
			arm(counter);
	}
	os_port_on();
}

void os_start_counters(AppModeType mode)
{
	CounterType id;

	(void)mode;
	epoch = os_port_cycles();
	for (id = 0; id < os_num_counters; id++)	/* 0 remains 0 */
		os_counters[id].now = to_ticks((uint64_t)os_counter_conf[id].tick_ns *
					       os_port_khz(), NS_PER_MS);
}
