// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "raw.h"

#define US_PER_S	1000000

int gettimeofday(struct timeval *now, void *zone)
{
	return (int)posix_answer(quest_gettimeofday(now, zone));
}

time_t time(time_t *now)
{
	struct timespec t;

	(void)quest_clock_gettime(CLOCK_REALTIME, &t);
	if (now)
		*now = t.tv_sec;
	return t.tv_sec;
}

double difftime(time_t end, time_t start)
{
	return (double)(end - start);
}

clock_t clock(void)
{
	struct timespec t;

	(void)quest_clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * CLOCKS_PER_SEC + t.tv_nsec / 1000;
}

clock_t times(struct tms *used)
{
	struct quest_tms q;
	struct timeval now;
	int error = quest_times(&q);

	if (!error)
		error = quest_gettimeofday(&now, NULL);
	if (error)
		return posix_answer(error);
	*used = (struct tms){
		.tms_utime = (clock_t)q.tms_utime, .tms_cutime = (clock_t)q.tms_cutime
	};
	return now.tv_sec * US_PER_S + now.tv_usec;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	return (int)posix_answer(quest_clock_gettime(clock, now));
}

/* Stores a resolution of 1 ns for each clock, since that of the TSC is finer. */
int clock_getres(clockid_t clock, struct timespec *resolution)
{
	struct timespec now;
	int error = quest_clock_gettime(clock, &now);

	if (!error && resolution)
		*resolution = (struct timespec){ 0, 1 };
	return (int)posix_answer(error);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
	if (clock == CLOCK_PROCESS_CPUTIME_ID)
		return ENOTSUP;
	return -quest_clock_nanosleep(clock, flags, time, left);
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
	return (int)posix_answer(quest_clock_nanosleep(CLOCK_MONOTONIC, 0, time, left));
}

int usleep(useconds_t us)
{
	return (int)posix_answer(quest_usleep(us));
}

unsigned int sleep(unsigned int seconds)
{
	(void)quest_usleep((uint64_t)seconds * US_PER_S);
	return 0;
}
