// SPDX-License-Identifier: GPL-2.0-only
/*
 * parcel CHANNEL send, parcel CHANNEL take: two programs in two cells that check messages (ipc.h)
 * of many sizes: the sender checks each reply, which is the request with other bytes. Prints a line
 * for each failure; the last line has the counts.
 */
#include <ipc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"

#define LARGEST		20000
#define SALT		0x5A

static struct ipc end;
static unsigned char message[LARGEST + 1], reply[LARGEST];

/* The first bytes of a request: how many the reply has */
struct wish {
	uint32_t reply, last;
};

static void fill(size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		message[i] = (unsigned char)(bytes + 7 * i);
}

static bool same(size_t bytes)
{
	size_t i;

	for (i = sizeof(struct wish); i < bytes; i++)
		if (reply[i] != (message[i % LARGEST] ^ SALT))
			return false;
	return true;
}

static ssize_t call(size_t bytes, size_t back, size_t room)
{
	struct wish w = { (uint32_t)back, 0 };

	fill(bytes);
	memset(reply, 0, sizeof(reply));
	memcpy(message, &w, sizeof(w));
	return ipc_call(&end, message, bytes, reply, room);
}

static void check_calls(void)
{
	const size_t sizes[] = { sizeof(struct wish), 9, end.body - 1, end.body, end.body + 1,
				 2 * end.body, 10001, LARGEST };
	const size_t n = sizeof(sizes) / sizeof(sizes[0]);
	size_t i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k <= i; k++) {
			CHECK(call(sizes[i], sizes[k], LARGEST) == (ssize_t)sizes[k]);
			CHECK(same(sizes[k]));
		}
	CHECK(call(100, 0, LARGEST) == 0);
	CHECK(call(9, LARGEST, LARGEST) == LARGEST);
}

/* An end without room says so, and the next message passes. */
static void check_room(void)
{
	CHECK(ipc_call(&end, message, LARGEST + 1, reply, LARGEST) == -EMSGSIZE);
	CHECK(ipc_send(&end, message, LARGEST + 1) == -EMSGSIZE);
	CHECK(call(10000, 10000, 9999) == -EMSGSIZE);
	CHECK(call(10000, 10000, 10000) == 10000 && same(10000));
	CHECK(ipc_call(&end, message, IPC_BYTES_MAX + 1, reply, LARGEST) == -EMSGSIZE);
}

/* Each slot of a message counts: the bounds are whole multiples. */
static void check_bounds(void)
{
	struct ipc_bound one, three, way;

	CHECK(ipc_bound(&end, end.body, 0, &one) == 0 && one.any_ns >= one.now_ns &&
	      one.now_ns > 0 && one.now_ns != IPC_NEVER);
	CHECK(ipc_bound(&end, 2 * end.body, end.body + 1, &three) == 0 &&
	      three.now_ns == 3 * one.now_ns && three.any_ns == 3 * one.any_ns);
	CHECK(ipc_bound(&end, 3 * end.body, IPC_ONE_WAY, &way) == 0 && way.now_ns < three.now_ns &&
	      way.now_ns > one.now_ns);
	CHECK(ipc_bound(&end, IPC_BYTES_MAX + 1, 0, &one) == -EMSGSIZE);
}

static void send(void)
{
	const struct wish last = { 0, 1 };
	struct ipc_bound bound;

	CHECK(ipc_bound(&end, 1, 1, &bound) == -ENOTCONN);
	CHECK(ipc_send(&end, message, 1) == -ENOTCONN);
	CHECK(ipc_connect(&end) == 0);
	check_bounds();
	check_calls();
	check_room();
	fill(LARGEST);
	CHECK(ipc_send(&end, message, LARGEST) == 0);
	CHECK(ipc_send(&end, &last, sizeof(last)) == 0);
}

static void take(void)
{
	struct wish w;
	ssize_t n, i;

	CHECK(ipc_reply(&end, message, 1) == -EINVAL);
	do {
		n = ipc_receive(&end, message, LARGEST);
		if (n == -EMSGSIZE)
			continue;
		if (n < (ssize_t)sizeof(w))
			break;
		memcpy(&w, message, sizeof(w));
		for (i = sizeof(w); i < LARGEST; i++)
			message[i] ^= SALT;
		if (!end.owes)
			CHECK(ipc_reply(&end, message, 1) == -EINVAL);
		else
			(void)ipc_reply(&end, message, w.reply);
	} while (n == -EMSGSIZE || w.last != 1);
	CHECK(n == sizeof(w));
}

int main(int argc, char **argv)
{
	int error = argc > 2 ? ipc_open(&end, argv[1], IPC_POLLS, 0) : -EINVAL;

	CHECK(error == 0);
	if (!error && !strcmp(argv[2], "send"))
		send();
	else if (!error)
		take();
	return checked("parcel");
}
