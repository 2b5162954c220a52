// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The clock is the TSC. The APIC timer has two users: the system timer of the kernel, and the
 * heartbeat of a cell.
 */
#include <inmate/cell.h>
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "../kernel/port.h"
#include "x86.h"

#define BEAT_US		250000

static uint32_t khz;
static bool deadline;
static uint64_t next_beat = TIMER_NEVER, wanted = TIMER_NEVER;

void hwclock_set(uint32_t tsc_khz, bool tsc_deadline)
{
	khz = tsc_khz;
	deadline = tsc_deadline;
}

static void arm(uint64_t now)
{
	timer_arm(wanted < next_beat ? wanted : next_beat, now);
}

void hwclock_start(uint8_t vector)
{
	timer_init(vector, khz, deadline);
	if (cell_present())
		next_beat = rdtsc() + timer_from_us(BEAT_US);
	arm(rdtsc());
}

bool hwclock_fired(void)
{
	uint64_t now = rdtsc();
	bool beat = now >= next_beat;

	timer_fired();
	if (beat)
		next_beat = now + timer_from_us(BEAT_US);
	if (now >= wanted)
		wanted = TIMER_NEVER;
	arm(now);
	return beat;
}

uint64_t os_port_cycles(void)
{
	return rdtsc();
}

uint32_t os_port_khz(void)
{
	return khz;
}

void os_port_arm(uint64_t cycles)
{
	if (cycles < wanted) {
		wanted = cycles;
		arm(rdtsc());
	}
}
