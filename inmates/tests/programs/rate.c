// SPDX-License-Identifier: GPL-2.0-only
/*
 * rate CHANNEL SECONDS: sends slots to pong, one after the other, and prints when it began, as a
 * TSC, and how many slots pong took in each second.
 */
#include "exchange.h"

#define SECONDS_MAX	60
#define PERIOD_US	100000	/* of its VCPU */

static struct message m;
static unsigned int taken[SECONDS_MAX];

int main(int argc, char **argv)
{
	unsigned long seconds = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	int channel = channel_open(argc > 2 ? argv[1] : ""), result = channel < 0 ? channel : 0;
	uint64_t begin, second = 0;

	if (seconds > SECONDS_MAX)
		return 1;
	align(PERIOD_US);
	begin = cycles();
	while (!result && second < seconds) {
		m.number++;
		m.reply = 16;
		result = send(channel, &m, sizeof(m));
		if (!result)
			result = await(channel, &m);
		taken[second]++;
		second = (cycles() - begin) / TSC_HZ;
	}
	m.reply = 0;
	if (!result)
		result = send(channel, &m, sizeof(m));
	if (result)
		perror_of("rate", result);
	print_counts("rate", begin, taken, seconds);
	return result != 0;
}
