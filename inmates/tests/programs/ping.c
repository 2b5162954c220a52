// SPDX-License-Identifier: GPL-2.0-only
/*
 * ping CHANNEL EXCHANGES SEED PAUSE_US: sends a slot and awaits a slot, EXCHANGES times, and prints
 * how long each round trip took. Before each one it sleeps for a random time, PAUSE_US and up to
 * its period, and keeps the CPU busy for a random time. Every other time that busy wait ends within
 * the last AIM_US of its budget instead: the worst phase for a sender.
 *
 * ping CHANNEL EXCHANGES SEED PAUSE_US BYTES WORK_US: sends BYTES in slots in one direction; the
 * receiver takes each slot by a reply of a word, and both ends work for WORK_US for each slot.
 */
#include "exchange.h"

#define AIM_US		4	/* about as long as a send takes */
#define NEAR_US		100	/* from here on it looks at its budget all the time */
#define SHORTER		8	/* the first chunk is C / 2^n at most, n < SHORTER */
#define LINE		16	/* times in a line */

static struct message m;
static struct sched_param vcpu;
static uint64_t seed, dearest;
static int channel;

static uint64_t in_us(int time)
{
	return (uint64_t)time * (vcpu.unit == VCPU_US ? 1 : 1000);
}

/* Uses the budget of this VCPU until at most `us` of it are left, if any are. */
static void use_budget(uint64_t us)
{
	uint64_t left;
	volatile int i;

	do {
		(void)vcpu_current(&left);
		if (left <= NEAR_US)
			continue;
		for (i = 0; i < STEPS; i++)
			;
		pause_cpu();
	} while (left > us);
}

/* Each fourth time it also splits the budget into two chunks, the first one often short. */
static void change_phase(int number, uint64_t pause_us)
{
	usleep((useconds_t)(pause_us + random_below(&seed, in_us(vcpu.T))));
	if (number % 4 == 3) {
		work(random_below(&seed, in_us(vcpu.C) >> random_below(&seed, SHORTER)));
		usleep((useconds_t)random_below(&seed, in_us(vcpu.T)));
	}
	if (number % 2)
		use_budget(random_below(&seed, AIM_US));
	else
		work(random_below(&seed, in_us(vcpu.C)));
}

/* Returns 0 or minus an error. */
static int exchange(uint32_t number, uint64_t work_us, uint32_t reply)
{
	uint64_t begin = cpu_ns(), used;
	int result;

	m.number = number;
	m.reply = reply;
	m.work_us = (uint32_t)work_us;
	work(work_us);
	used = cpu_ns();
	result = send(channel, &m, sizeof(m));
	used = cpu_ns() - (work_us ? used : begin);
	dearest = used > dearest ? used : dearest;
	return result ? result : await(channel, &m);
}

static int round_trips(int n, uint64_t pause_us)
{
	uint64_t begin;
	int i, result;

	for (i = 0; i < n; i++) {
		change_phase(i, pause_us);
		m.sleep_us = (uint32_t)random_below(&seed, pause_us + 1);
		begin = cycles();
		result = exchange((uint32_t)i + 1, 0, sizeof(m));
		if (result)
			return result;
		printf("%lu%c", cycles() - begin,
		       i % LINE == LINE - 1 || i == n - 1 ? '\n' : ' ');
	}
	return 0;
}

static int one_way(int n, uint64_t pause_us, uint64_t bytes, uint64_t work_us)
{
	uint64_t begin, sent;
	int i, result = 0;

	for (i = 0; i < n; i++) {
		change_phase(i, pause_us);
		m.sleep_us = 0;
		begin = cycles();
		for (sent = 0; sent < bytes && !result; sent += sizeof(m))
			result = exchange((uint32_t)(sent / sizeof(m)) + 1, work_us, 16);
		if (result)
			return result;
		printf("%lu\n", cycles() - begin);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int n = argc > 4 ? atoi(argv[2]) : 0, result;
	uint64_t pause_us = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;

	channel = n ? channel_open(argv[1]) : -EINVAL;
	result = channel < 0 ? channel : vcpu_getparams(&vcpu);
	if (!result) {
		seed = strtoul(argv[3], NULL, 10) * 0x9e3779b97f4a7c15u + 1;
		result = argc > 6 ? one_way(n, pause_us, strtoul(argv[5], NULL, 10),
					    strtoul(argv[6], NULL, 10)) :
				    round_trips(n, pause_us);
	}
	if (!result) {
		m.reply = 0;
		result = send(channel, &m, sizeof(m));
	}
	if (result) {
		perror_of("ping", result);
		return 1;
	}
	printf("ping: a slot takes %lu ns at most\n", dearest);
	return 0;
}
