// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver, lwIP and the sockets, under sanitizers: a program that makes any calls, another
 * machine that sends any frames, a function that describes frames wrongly, and a heap that fails.
 * In the end all sockets are closed, and lwIP has freed all memory. SEED= and ROUNDS= in the
 * environment choose other runs.
 */
#include <string.h>
#include "../../quest/net/end.h"
#include "../../quest/net/table.h"
#include "../../quest/user/include/quest/errors.h"
#include "remote.h"
#include "unit.h"

#define ROUNDS		20000
#define OPEN_MOST	10

static int fds[OPEN_MOST];
static unsigned int num_fds;
static unsigned int bytes_in, bytes_out, accepts;

static unsigned int rounds(void)
{
	const char *text = getenv("ROUNDS");

	return text ? (unsigned int)atoi(text) : ROUNDS;
}

/* ---- the other machine ---- */

static void open_connection(void)
{
	struct peer p = { (uint16_t)(1024 + rnd_below(200)), (uint16_t)(7 + rnd_below(3)),
			  (uint32_t)rnd(), 0, 8192 };
	uint8_t f[FRAME_MAX];

	world_receive(f, frame_tcp(f, &p, SYN, "", 0, 4 * rnd_below(4)));
}

/* A segment of a connection that exists, at the right place, or nearly. */
static void continue_connection(void)
{
	static const uint8_t usual[] = { ACK, ACK | PSH, ACK | PSH, ACK | FIN, RST, RST | ACK };
	uint8_t f[FRAME_MAX], data[1400], flags;
	struct peer *p = remote_peer(), odd;
	size_t n;

	if (!p)
		return;
	odd = *p;
	flags = rnd_below(8) ? usual[rnd_below(rnd_below(4) ? 4 : 6)] : (uint8_t)rnd();
	n = flags & PSH ? rnd_below(sizeof(data)) : 0;
	memset(data, 'x', n);
	if (!rnd_below(5))
		odd.next += (uint32_t)rnd_below(3000) - 1500;
	if (!rnd_below(8))
		odd.expected -= (uint32_t)rnd_below(3000);
	world_receive(f, frame_tcp(f, &odd, flags, data, n, 0));
	if (odd.next == p->next && !(flags & (SYN | RST)))
		p->next += (uint32_t)n + !!(flags & FIN);
}

static void hostile(void)
{
	uint8_t f[FRAME_MAX];
	size_t n = frame_hostile(f);

	if (rnd_below(4))
		world_receive(f, n);
	else
		world_describe(f, n, (uint16_t)rnd_below(3000), (uint8_t)(rnd() | 1),
			       rnd_below(2) ? 0 : (uint8_t)rnd());
}

/* ---- the program ---- */

static void keep(int fd)
{
	if (fd < 0)
		return;
	socket_set_blocking(fd, false);
	fds[num_fds++] = fd;
}

static void close_one(void)
{
	unsigned int i = (unsigned int)rnd_below(num_fds);

	socket_close(fds[i]);
	fds[i] = fds[--num_fds];
}

static void begin_socket(void)
{
	struct quest_address to = { .port = (uint32_t)(7 + rnd_below(3)) };
	int fd;

	if (num_fds > OPEN_MOST / 2)
		close_one();
	fd = socket_create(rnd_below(3) ? SOCK_STREAM : SOCK_DGRAM, WORLD_PID);
	keep(fd);
	if (fd < 0)
		return;
	if (rnd_below(2))
		(void)socket_set(fd, QUEST_REUSE, 1);
	if (rnd_below(3))
		(void)socket_bind(fd, &to);
	if (rnd_below(2))
		(void)socket_listen(fd, (int)rnd_below(10));
}

static void transfer(int fd)
{
	static char data[20000];
	struct quest_datagram d = { .data = (uintptr_t)data, .length = rnd_below(sizeof(data)) };
	long n;

	if (rnd_below(3))
		d.length = rnd_below(1473);
	if (rnd_below(2)) {
		d.address = (struct quest_address){ 0x0107A8C0, (uint32_t)rnd_below(10) };
		n = socket_send(fd, NULL, &d);
		bytes_out += n > 0 ? (unsigned int)n : 0;
	} else {
		d.flags = rnd_below(4) ? 0 : MSG_PEEK;
		n = socket_receive(fd, NULL, &d);
		bytes_in += n > 0 ? (unsigned int)n : 0;
	}
	CHECK(n <= (long)d.length);
}

static void any_call(int fd)
{
	struct quest_address a = { 0x0107A8C0, (uint32_t)rnd_below(3) + 9 };
	int accepted;

	switch (rnd_below(9)) {
	case 0:
		(void)socket_connect(fd, &a);
		break;
	case 1:
		(void)socket_shutdown(fd, (int)rnd_below(4));
		break;
	case 2:
		(void)socket_set(fd, (int)rnd_below(9), (int64_t)rnd_below(2));
		(void)socket_get(fd, (int)rnd_below(9));
		break;
	case 3:
		(void)socket_name(fd, rnd_below(2), &a);
		(void)socket_ready(fd);
		break;
	case 4:
		(void)socket_listen(fd, (int)rnd_below(10));
		break;
	case 5: case 6:
		accepted = num_fds < OPEN_MOST ? socket_accept(fd, WORLD_PID, &a) : -1;
		if (accepted >= 0 && !rnd_below(8))
			socket_reject(fd, accepted);
		else
			keep(accepted);
		accepts += accepted >= 0;
		break;
	default:
		transfer(fd);
	}
}

/* ---- all ---- */

static void step(void)
{
	unsigned int what = (unsigned int)rnd_below(16);

	if (what < 2)
		begin_socket();
	else if (what < 7 && num_fds)
		any_call(fds[rnd_below(num_fds)]);
	else if (what == 7 && num_fds)
		close_one();
	else if (what < 10)
		open_connection();
	else if (what < 14)
		continue_connection();
	else
		hostile();
	if (rnd_below(3))
		world_work(rnd_below(8) ? rnd_below(1000) : rnd_below(3000000));
	remote_look();
}

static void settle(void)
{
	while (num_fds)
		close_one();
	remote_pass(SETTLE_S);
}

TEST(net_survives_any_calls_and_frames)
{
	unsigned int before, i, n = rounds();

	world_begin(false);
	before = world_allocated();
	for (i = 0; i < n; i++) {
		if (i % 1000 == 0)
			world_fail(i / 1000 % 3 == 2 ? 20 : 0);
		step();
		if (!rnd_below(300))
			remote_pass(LONG_S);
	}
	world_fail(0);
	settle();
	printf("net: %u accepted, %u bytes in, %u out\n", accepts, bytes_in, bytes_out);
	CHECK(accepts > n / 1000 && bytes_in > n / 100 && bytes_out > n / 10);
	CHECK_EQ(sockets_used(), 0);
	CHECK_EQ(tcp_closing(), 0);
	CHECK_EQ(tcp_waiting(), 0);
	CHECK_EQ(world_allocated(), before);
}
