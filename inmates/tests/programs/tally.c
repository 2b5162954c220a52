// SPDX-License-Identifier: GPL-2.0-only
/*
 * tally CHANNEL [HOPS]: opens the channel and counts in it, if it is memory that this cell may
 * write; then moves to another cell HOPS times, and counts on after each move. With HOPS below 0 it
 * counts until it is killed. Checks that the channel has kept the last count, that the number of
 * the channel is still good for calls, and that no bell is lost on the way.
 */
#include <channel.h>
#include <quest.h>
#include <quest/calls.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "check.h"

#define COUNTS	20

#define NUMBER(number, name, args) CALL_##name = number,
enum { QUEST_CALLS(NUMBER) };

static volatile uint64_t *word;
static uint64_t count;
static int channel;

static void count_on(void)
{
	int i;

	for (i = 0; i < COUNTS; i++) {
		CHECK(*word == count);
		*word = ++count;
		usleep(1000);
	}
}

/* Waits for more bells than `seen`, up to 10 s of the program's life. Returns their number. */
static long bells_after(long seen)
{
	static const struct timespec end = { 10, 0 };

	return quest_syscall(CALL_channel_sleep, channel, seen, (long)&end);
}

/* A thread that took the number of bells before the move looks again after it. */
static void move(void)
{
	long bells = bells_after(-1);
	bool moved = vcpu_migration_blocking(0, DEST_ANY, MIG_RELAX);
	struct quest_migration now;

	CHECK(bells >= 0);
	if (moved)
		CHECK(bells_after(bells) > bells);
	(void)vcpu_migration_status(&now);
	if (!moved)
		printf("tally stays in %s: %s\n", now.cell, strerror(now.error));
}

int main(int argc, char **argv)
{
	long hops = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	static uint64_t elsewhere;
	uint64_t size;
	bool writable;
	void *data;

	channel = argc > 1 ? channel_open(argv[1]) : -EINVAL;
	if (channel < 0) {
		printf("tally: %s\n", strerror(channel));
		return 1;
	}
	word = &elsewhere;
	if (!qv_end_memory(channel_end(channel), &data, &size, &writable) && writable)
		word = data;
	count = *word;
	count_on();
	for (; hops; hops--) {
		if (hops > 0)
			move();
		count_on();
	}
	CHECK(channel_ring(channel) == 0);
	CHECK(channel_close(channel) == 0 && channel_close(channel) == -EBADF);
	CHECK(channel_open(argv[1]) >= 0);
	printf("tally has counted to %lu\n", count);
	return checked("tally");
}
