// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests/evaluation:
 *
 * cast send MS CHANNEL...: every MS ms writes the next number to each channel.
 * cast take MS CHANNEL [LOOKS]: every MS ms takes all numbers that are in the channel, and prints
 * the TSC, how many there were, the first and the last one. After LOOKS looks it overwrites its own
 * section of the channel, as a fault may.
 */
#include <channel.h>
#include <quest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#define CHANNELS	4
#define SECOND_NS	1000000000l

static int channels[CHANNELS], num_channels;
static struct timespec next;

static void send(uint64_t number)
{
	int i;

	for (i = 0; i < num_channels; i++)
		(void)channel_write(channels[i], &number, sizeof(number));
}

static void take(void)
{
	uint64_t number, first = 0, last = 0;
	unsigned int heard = 0;

	while (channel_read(channels[0], &number, sizeof(number)) == (int)sizeof(number)) {
		if (!heard++)
			first = number;
		last = number;
	}
	printf("cast: %lu %u %lu %lu\n", (unsigned long)__rdtsc(), heard, first, last);
}

static void spoil(void)
{
	const struct qv_end *end = channel_end(channels[0]);
	const struct qv_chan_end *own = &end->page.end[end->self];

	memset(end->window + own->offset, 0xff, own->size);
	printf("cast: overwritten\n");
}

static void wait_until_next(long ms)
{
	next.tv_nsec += ms * 1000000;
	next.tv_sec += next.tv_nsec / SECOND_NS;
	next.tv_nsec %= SECOND_NS;
	(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
}

int main(int argc, char **argv)
{
	bool sends = argc > 3 && !strcmp(argv[1], "send");
	long ms = argc > 3 ? strtol(argv[2], NULL, 10) : 0;
	unsigned long looks = !sends && argc > 4 ? strtoul(argv[4], NULL, 10) : 0, look;

	if (ms <= 0 || argc > 3 + CHANNELS)
		return 2;
	for (; num_channels < (sends ? argc - 3 : 1); num_channels++) {
		channels[num_channels] = channel_open(argv[3 + num_channels]);
		if (channels[num_channels] < 0)
			return 1;
	}
	(void)clock_gettime(CLOCK_MONOTONIC, &next);
	for (look = 1;; look++) {
		(void)recovery_beat();
		wait_until_next(ms);
		if (sends)
			send(look);
		else
			take();
		if (look == looks)
			spoil();
	}
}
