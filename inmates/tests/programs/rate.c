// SPDX-License-Identifier: GPL-2.0-only
/*
 * rate CHANNEL SECONDS: sends slots to pong, one after the other, and prints when it began, as a
 * TSC, and how many slots pong took in each second.
 */
#include "exchange.h"

#define SECONDS_MAX	60
#define PERIOD_US	100000	/* of its VCPU */

static struct ipc end;
static unsigned char message[4096];
static unsigned int taken[SECONDS_MAX];

int main(int argc, char **argv)
{
	unsigned long seconds = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	const struct request last = { .last = 1 };
	struct request *r = (struct request *)message;
	int error = argc > 2 ? ipc_open(&end, argv[1], IPC_POLLS, 0) : -EINVAL;
	uint64_t begin, second = 0;
	ssize_t result;

	if (!error && (seconds > SECONDS_MAX || end.body > sizeof(message)))
		error = -EINVAL;
	if (!error)
		error = ipc_connect(&end);
	align(PERIOD_US);
	begin = cycles();
	r->reply = sizeof(*r);
	while (!error && second < seconds) {
		result = ipc_call(&end, message, end.body, message, sizeof(message));
		error = result < 0 ? (int)result : 0;
		taken[second]++;
		second = (cycles() - begin) / TSC_HZ;
	}
	if (!error)
		error = ipc_send(&end, &last, sizeof(last));
	if (error)
		perror_of("rate", error);
	print_counts("rate", begin, taken, seconds);
	return error != 0;
}
