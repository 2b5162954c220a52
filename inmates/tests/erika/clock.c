// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock of the system timer. It advances in the step `time` only, so that a case has the
 * same result on each machine.
 */
#include "suite.h"

static uint64_t now, armed = UINT64_MAX;

uint64_t clock_cycles(void)
{
	return now;
}

void clock_arm(uint64_t cycles)
{
	if (cycles < armed)
		armed = cycles;
}

void clock_pass(uint64_t cycles)
{
	uint64_t end = now + cycles;

	while (armed <= end) {
		now = armed > now ? armed : now;
		armed = UINT64_MAX;
		os_port_trigger(CLOCK_VECTOR(os_class_of(os_timer_isr.level)));
		run_settle();
	}
	now = end;
}
