// SPDX-License-Identifier: GPL-2.0-only
/*
 * answer CHANNEL [sleep]: replies to each request of `ask` with the sum of its numbers. Ends with
 * an error. Documentation/how-to/messages.md explains it.
 */
#include <ipc.h>
#include <stdio.h>

#define NUMBERS		64
#define SERVICE_US	10	/* to add them up */

int main(int argc, char **argv)
{
	static struct ipc end;
	uint64_t numbers[NUMBERS], sum;
	ssize_t n = argc > 1 ? ipc_open(&end, argv[1], argc > 2 ? IPC_SLEEPS : IPC_POLLS,
					SERVICE_US) : -EINVAL;

	while (n >= 0) {
		n = ipc_receive(&end, numbers, sizeof(numbers));
		for (sum = 0; n >= (ssize_t)sizeof(sum); n -= sizeof(sum))
			sum += numbers[n / sizeof(sum) - 1];
		if (n >= 0)
			n = ipc_reply(&end, &sum, sizeof(sum));
	}
	perror_of("answer", (int)n);
	return 1;
}
