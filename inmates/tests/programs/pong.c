// SPDX-License-Identifier: GPL-2.0-only
/*
 * pong CHANNEL [US]: the receiver of ping (exchange.h). Answers each message until one asks for no
 * answer, and prints the CPU time that the dearest took. It begins at a multiple of US.
 */
#include "exchange.h"

static struct message m;

int main(int argc, char **argv)
{
	int channel = channel_open(argc > 1 ? argv[1] : ""), result;
	uint64_t begin, used, most = 0;
	unsigned int served = 0;

	if (channel < 0) {
		perror_of("pong", channel);
		return 1;
	}
	if (argc > 2)
		align(strtoul(argv[2], NULL, 10));
	for (;;) {
		result = await(channel, &m);
		if (result) {
			perror_of("pong", result);
			return 1;
		}
		if (m.number != m.end || !m.reply)
			break;
		begin = cpu_ns();
		work(m.work_us);
		used = cpu_ns() - begin;
		result = send(channel, &m, m.reply);
		used = cpu_ns() - begin - (m.work_us ? used : 0);
		most = used > most ? used : most;
		served++;
		if (m.sleep_us)
			usleep(m.sleep_us);
	}
	printf("pong: %u served, a reply takes %lu ns at most, %s\n", served, most,
	       m.number == m.end ? "end" : "a torn message");
	return m.number != m.end;
}
