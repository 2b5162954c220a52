// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Counters on the system timer. They are read from the clock, so nothing runs between expiries: the
 * timer is armed for the earliest one. A tick is `scale` cycles, in units of 2^-32 cycle.
 */
#include "kernel.h"

#define NS_PER_MS	1000000u

static uint64_t epoch;		/* the clock at StartOS() */

static uint64_t scale_of(CounterType id)
{
	return os_counters[id].now;	/* these counters need no value of their own */
}

static uint64_t to_cycles(uint64_t ticks, uint64_t scale)
{
	unsigned __int128 cycles = (unsigned __int128)ticks * scale + UINT32_MAX;

	return cycles >> 96 ? UINT64_MAX : (uint64_t)(cycles >> 32);
}

/* (high * 2^64 + low) / by; high is less than `by`. */
static uint64_t divide(uint64_t high, uint64_t low, uint64_t by)
{
	uint64_t quotient, remainder;

	__asm__("divq %4" : "=a"(quotient), "=d"(remainder) : "a"(low), "d"(high), "r"(by) : "cc");
	return quotient;
}

static uint64_t to_ticks(uint64_t cycles, uint64_t scale)
{
	return divide(cycles >> 32, cycles << 32, scale);
}

uint64_t os_systimer_ticks(CounterType id)
{
	uint64_t scale = scale_of(id);

	return scale ? to_ticks(os_port_cycles() - epoch, scale) : 0;	/* 0: before StartOS() */
}

void os_systimer_arm(void)
{
	uint64_t earliest = UINT64_MAX, at;
	CounterType id;

	for (id = 0; id < os_num_counters; id++) {
		if (!os_counter_conf[id].tick_ns || !os_counters[id].first)
			continue;
		at = to_cycles(os_counters[id].first->due, scale_of(id));
		if (at < earliest)
			earliest = at;
	}
	os_port_arm(earliest >= UINT64_MAX - epoch ? UINT64_MAX : epoch + earliest);
}

static void expire_all(void)
{
	bool on = os_lock();
	CounterType id;

	for (id = 0; id < os_num_counters; id++)
		if (os_counter_conf[id].tick_ns)
			os_counter_expire(&os_counters[id], os_systimer_ticks(id));
	os_systimer_arm();
	os_unlock(on);
}

/* An ISR without a row: GetISRID() says INVALID_ISR. */
void os_systimer_interrupt(void)
{
	struct os_isr_conf timer = { .entry = expire_all, .level = os_timer_level };

	os_isr2(&timer, INVALID_ISR);
}

void os_start_counters(AppModeType mode)
{
	CounterType id;

	(void)mode;
	epoch = os_port_cycles();
	for (id = 0; id < os_num_counters; id++) {
		uint64_t ns = os_counter_conf[id].tick_ns;
		unsigned __int128 cycles = (unsigned __int128)ns * os_port_khz() << 32;

		if (ns)
			os_counters[id].now = divide((uint64_t)(cycles >> 64), (uint64_t)cycles,
						     NS_PER_MS);
	}
}
