// SPDX-License-Identifier: GPL-2.0-only
/*
 * ping CHANNEL EXCHANGES SEED PERIOD_US: calls with a whole slot and takes a whole slot, EXCHANGES
 * times. Prints the bound before the first call, and at the end the longest round trips.
 * Before each one it sleeps for a random time, up to its period and that of the receiver,
 * PERIOD_US, and keeps the CPU busy for a random time. Every other time that busy wait ends within
 * a send of the end of its budget instead: the worst phase for a sender.
 *
 * ping CHANNEL EXCHANGES SEED PERIOD_US BYTES: sends messages of BYTES, which get no reply.
 */
#include "exchange.h"

#define NEAR_US		1000	/* from here on it looks at its budget all the time */
#define SHORTER		8	/* the first chunk is C / 2^n at most, n < SHORTER */
#define LONGEST		60	/* times that are printed */
#define LINE		6	/* in a line, which no screen breaks */

static struct ipc end;
static struct sched_param vcpu;
static uint64_t seed;

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
		for (i = 0; left > NEAR_US && i < STEPS; i++)
			;
		pause_cpu();
	} while (left > us);
}

/*
 * Before exchange `number`. Each fourth time it also splits the budget into two chunks, the first
 * one often short.
 */
static void change_phase(int number, uint64_t pause)
{
	usleep((useconds_t)pause);
	if (number % 4 == 3) {
		work(random_below(&seed, in_us(vcpu.C) >> random_below(&seed, SHORTER)));
		usleep((useconds_t)random_below(&seed, in_us(vcpu.T)));
	}
	if (number % 2)
		use_budget(random_below(&seed, end.own.slot_ns / 1000 + 1));
	else
		work(random_below(&seed, in_us(vcpu.C)));
}

/* Shell sort, the longest first. */
static void sort(uint64_t *took, int n)
{
	uint64_t one;
	int gap, i, k;

	for (gap = n / 2; gap; gap /= 2)
		for (i = gap; i < n; i++) {
			one = took[i];
			for (k = i; k >= gap && took[k - gap] < one; k -= gap)
				took[k] = took[k - gap];
			took[k] = one;
		}
}

/* All that is printed fits on a screen: a command that reads it meanwhile takes the CPUs' time. */
static void print_times(uint64_t *took, int n)
{
	int i;

	sort(took, n);
	printf("ping: number=%d median=%lu longest:", n, took[n / 2]);
	for (i = 0; i < LONGEST && i < n; i++)
		printf("%s%lu", i % LINE ? " " : "\n", took[i]);
	printf("\n");
}

/*
 * The receiver sleeps for a part of the sender's pause, and has polled for up to its own period
 * when the next message comes. Returns 0 or minus an error.
 */
static int exchanges(int n, uint64_t period_us, unsigned char *message, size_t bytes, bool one_way)
{
	uint64_t *took = malloc((size_t)n * sizeof(*took)), begin, pause, poll;
	struct request *r = (struct request *)message;
	ssize_t result = took ? 0 : -ENOMEM;
	int i;

	r->reply = (uint32_t)bytes;
	pause = random_below(&seed, in_us(vcpu.T));
	for (i = 0; i < n && result >= 0; i++) {
		change_phase(i, pause);
		pause = random_below(&seed, in_us(vcpu.T) + period_us);
		poll = random_below(&seed, period_us);
		r->sleep_us = pause > poll ? (uint32_t)(pause - poll) : 0;
		begin = cycles();
		result = one_way ? ipc_send(&end, message, bytes) :
				   ipc_call(&end, message, bytes, message, bytes);
		took[i] = cycles() - begin;
	}
	if (result >= 0 && n)
		print_times(took, n);
	free(took);
	return result < 0 ? (int)result : 0;
}

static int print_bound(size_t bytes, size_t reply)
{
	struct ipc_bound bound;
	int error = ipc_bound(&end, bytes, reply, &bound);

	printf("ping: bound any=%lu now=%lu paper=%lu\nping: a slot takes %lu and %lu ns\n",
	       bound.any_ns, bound.now_ns, bound.paper_ns, end.own.slot_ns, end.peer.slot_ns);
	return error;
}

/* Returns 0 or minus an error. */
static int run(int n, uint64_t period_us, size_t stream)
{
	const struct request last = { .last = 1 };
	size_t bytes = stream ? stream : end.body;
	unsigned char *message = calloc(1, bytes);
	int error = message ? ipc_connect(&end) : -ENOMEM;

	if (!error)
		error = print_bound(bytes, stream ? IPC_ONE_WAY : bytes);
	if (!error)
		error = exchanges(n, period_us, message, bytes, stream);
	return error ? error : ipc_send(&end, &last, sizeof(last));
}

int main(int argc, char **argv)
{
	size_t stream = argc > 5 ? strtoul(argv[5], NULL, 10) : 0;
	int n = argc > 4 ? atoi(argv[2]) : 0, error = -EINVAL;

	if (n && (!stream || (stream >= sizeof(struct request) && stream <= MESSAGE_MAX)))
		error = ipc_open(&end, argv[1], IPC_POLLS, 0);
	if (!error)
		error = vcpu_getparams(&vcpu);
	if (!error) {
		seed = strtoul(argv[3], NULL, 10) * 0x9e3779b97f4a7c15u + 1;
		error = run(n, strtoul(argv[4], NULL, 10), stream);
	}
	if (error)
		perror_of("ping", error);
	else
		printf("ping: end\n");
	return error != 0;
}
