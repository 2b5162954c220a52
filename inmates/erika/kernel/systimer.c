// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The driver of counters on the system timer. They are read from the clock, so nothing runs between
 * expiries: the timer is armed for the earliest one.
 *
 * A due time is at most 2^32 ticks of 0.5 s away, which are 2^63 cycles at 4 GHz.
 */
#include "kernel.h"

#define NS_PER_MS	1000000u

static uint64_t epoch;		/* the clock at StartOS() */

/* Cycles * 10^6 in a tick. */
static __attribute__((noinline)) uint64_t scale_of(CounterType id)
{
	return (uint64_t)os_counter_conf[id].tick_ns * os_port_khz();
}

/* Returns a * b / by, which is less than 2^64. */
static uint64_t scaled(uint64_t a, uint64_t b, uint64_t by)
{
	unsigned __int128 product = (unsigned __int128)a * b;
	uint64_t quotient, remainder;

	__asm__("divq %4" : "=a"(quotient), "=d"(remainder)
		: "a"((uint64_t)product), "d"((uint64_t)(product >> 64)), "r"(by) : "cc");
	return quotient;
}

static uint64_t ticks(CounterType id)
{
	return scaled(os_port_cycles() - epoch, NS_PER_MS, scale_of(id));
}

/* Rounds down: the clock advances by a cycle before the handler reads it. */
static void arm(CounterType id)
{
	const struct os_timer *first = os_counters[id].first;

	if (first)
		os_port_arm(epoch + scaled(scale_of(id), first->due, NS_PER_MS));
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
	epoch = os_port_cycles();
}
