// SPDX-License-Identifier: GPL-2.0-only
/* System calls: clocks. */
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "../mm/usercopy.h"
#include "clock.h"
#include "dispatch.h"
#include "machine.h"
#include "syscall.h"

/* Stores the cycles that a clock has counted. Returns false if there is no such clock. */
static bool read_clock(const struct process *p, int clock, uint64_t *cycles)
{
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_MONOTONIC:
		*cycles = rdtsc() - p->epoch;
		return true;
	case CLOCK_PROCESS_CPUTIME_ID:
		*cycles = process_used(p);
		return true;
	case CLOCK_THREAD_CPUTIME_ID:
		*cycles = dispatch_used(thread_current());
		return true;
	default:
		return false;
	}
}

long sys_clock_gettime(struct call *c)
{
	struct timespec now;
	uint64_t cycles;

	if (!read_clock(c->process, call_int(c, 0), &cycles))
		return -EINVAL;
	now = clock_timespec(timer_to_ns(cycles));
	return copy_to_user(&c->process->space, c->arg[1], &now, sizeof(now)) ? 0 : -EFAULT;
}

long sys_clock_nanosleep(struct call *c)
{
	int clock = call_int(c, 0), flags = call_int(c, 1);
	struct timespec t;

	if (!copy_from_user(&c->process->space, &t, c->arg[2], sizeof(t)))
		return -EFAULT;
	if ((clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) || flags & ~TIMER_ABSTIME ||
	    !clock_sane(&t))
		return -EINVAL;
	return clock_sleep(clock_after(flags & TIMER_ABSTIME ? c->process->epoch : rdtsc(), &t));
}
