// SPDX-License-Identifier: GPL-2.0-only
/*
 * pong CHANNEL [US]: the receiver of ping and rate (exchange.h). Takes messages and replies to
 * requests until one is the last. It begins at a multiple of US.
 */
#include "exchange.h"

static struct ipc end;

/* Returns 0 or minus an error. */
static int serve(unsigned char *message)
{
	struct request r = { .last = 0 };
	ssize_t bytes;
	int error = 0;

	while (!error) {
		bytes = ipc_receive(&end, message, MESSAGE_MAX);
		if (bytes < (ssize_t)sizeof(r))
			return bytes < 0 ? (int)bytes : -EBADMSG;
		memcpy(&r, message, sizeof(r));
		if (r.last)
			break;
		if (end.owes)
			error = ipc_reply(&end, message, r.reply);
		if (r.sleep_us)
			usleep(r.sleep_us);
	}
	return error;
}

int main(int argc, char **argv)
{
	int error = ipc_open(&end, argc > 1 ? argv[1] : "", IPC_POLLS, 0);
	unsigned char *message = malloc(MESSAGE_MAX);

	if (!error && argc > 2)
		align(strtoul(argv[2], NULL, 10));
	if (!error)
		error = message ? serve(message) : -ENOMEM;
	if (error)
		perror_of("pong", error);
	else
		printf("pong: end\n");
	return error != 0;
}
