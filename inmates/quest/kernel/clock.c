// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "clock.h"
#include "process/process.h"

#define NS_PER_S	1000000000l
/* a time of so many seconds fits into 64 bits, in cycles and in ns */
#define FAR_S		(1l << 31)

struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };
}

bool clock_sane(const struct timespec *t)
{
	return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < NS_PER_S;
}

/* Rounded up, so that a clock that is read at the returned TSC value shows `t` or more. */
uint64_t clock_after(uint64_t since, const struct timespec *t)
{
	uint64_t at;

	if (t->tv_sec >= FAR_S)
		return UINT64_MAX;
	at = timer_from_ns((uint64_t)t->tv_sec * NS_PER_S + (uint64_t)t->tv_nsec) + 1;
	return __builtin_add_overflow(since, at, &at) ? UINT64_MAX : at;
}

uint64_t clock_wait_end(uint64_t at)
{
	struct call_restart *r = &thread_current()->restart;

	if (!r->again)
		r->until = at;
	return r->until;
}

long clock_sleep(uint64_t at)
{
	uint64_t end = clock_wait_end(at);
	long error;

	do {
		thread_sleep_until(end);
		error = rdtsc() < end ? process_interrupted(process_current()) : 0;
	} while (!error && rdtsc() < end);
	return error;
}
