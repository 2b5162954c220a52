/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Time counts from the kernel's start: there is no calendar clock, and CLOCK_REALTIME is
 * CLOCK_MONOTONIC.
 */
#ifndef QUEST_TIME_H
#define QUEST_TIME_H

#include <quest/posix_types.h>

#define CLOCKS_PER_SEC	1000000l

time_t time(time_t *now);		/* seconds since the kernel's start */
double difftime(time_t end, time_t start);
clock_t clock(void);			/* CPU time of the program in us */
int clock_gettime(clockid_t clock, struct timespec *now);	/* EINVAL, EFAULT */
int clock_getres(clockid_t clock, struct timespec *resolution);	/* EINVAL */

/*
 * Sleep for `time` or longer. With TIMER_ABSTIME, sleep until the clock shows `time` or more, and
 * not at all if that time has passed. Clocks: CLOCK_MONOTONIC and CLOCK_REALTIME. `left` is never
 * written, since a sleep ends early only if its program ends. clock_nanosleep() returns 0, EINVAL,
 * ENOTSUP or EFAULT; nanosleep() returns -1 and sets errno.
 */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left);
int nanosleep(const struct timespec *time, struct timespec *left);

#endif
