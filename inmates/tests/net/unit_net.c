// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver, lwIP and the sockets, under sanitizers: a program that makes any calls, another
 * machine that sends any frames, a function that describes frames wrongly, and a heap that fails.
 * In the end all sockets are closed, and lwIP has freed all memory. SEED= and ROUNDS= in the
 * environment choose other runs.
 */
#include <string.h>
#include "../../quest/drivers/net/nic.h"
#include "../../quest/net/end.h"
#include "../../quest/net/table.h"
#include "../../quest/user/include/quest/errors.h"
#include "frames.h"
#include "unit.h"

#define ROUNDS		20000
#define PEERS		32
#define OPEN_MOST	10
#define LONG_S		150		/* longer than TIME_WAIT */
#define SETTLE_S	2000		/* longer than all time limits of lwIP */

static struct peer peers[PEERS];
static unsigned int num_peers;
static int fds[OPEN_MOST];
static unsigned int num_fds;
static unsigned int bytes_in, bytes_out, accepts;

static unsigned int rounds(void)
{
	const char *text = getenv("ROUNDS");

	return text ? (unsigned int)atoi(text) : ROUNDS;
}

/* ---- the other machine ---- */

static struct peer *known(const struct peer *p)
{
	unsigned int i;

	for (i = 0; i < num_peers; i++)
		if (peers[i].here == p->here && peers[i].there == p->there)
			return &peers[i];
	i = num_peers < PEERS ? num_peers++ : (unsigned int)rnd_below(PEERS);
	peers[i] = *p;
	return &peers[i];
}

/* Sees what the cell sends, and mostly acknowledges it. */
static void look(void)
{
	uint8_t f[FRAME_MAX], flags;
	struct peer p = { 0 }, *k;
	size_t length, n;

	while ((length = world_sent(f))) {
		if (f[12] == 8 && f[13] == 6 && f[21] == 1) {
			world_receive(f, frame_arp(f, 2));
			continue;
		}
		if (!frame_segment(f, length, &p, &flags, &n))
			continue;
		k = known(&p);
		k->expected = p.expected + (uint32_t)n + !!(flags & SYN) + !!(flags & FIN);
		if (!(flags & ACK))
			k->next = (uint32_t)rnd();
		else if (!k->next || rnd_below(4))
			k->next = p.next;
		k->window = rnd_below(8) ? 8192 : (uint16_t)rnd_below(2000);
		if (flags & RST || !rnd_below(6))
			continue;
		if (flags & SYN && !(flags & ACK)) {
			world_receive(f, frame_tcp(f, k, SYN | ACK, "", 0, 0));
			k->next++;
		} else if (n || flags & (SYN | FIN)) {
			world_receive(f, frame_tcp(f, k, ACK, "", 0, 0));
		}
	}
}

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
	struct peer *p, odd;
	size_t n;

	if (!num_peers)
		return;
	p = &peers[rnd_below(num_peers)];
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
	look();
}

static void pass(unsigned int seconds)
{
	unsigned int i;

	for (i = 0; i < seconds * 4; i++) {
		world_work(250000);
		look();
	}
}

static void settle(void)
{
	while (num_fds)
		close_one();
	pass(SETTLE_S);
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
			pass(LONG_S);
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

/* The other machine answers as TCP demands. Returns the flags of all that the cell has sent. */
static unsigned int obey(struct peer *p)
{
	uint8_t f[FRAME_MAX], flags;
	unsigned int all = 0;
	size_t length, n;

	world_work(1000);
	while ((length = world_sent(f))) {
		if (f[12] == 8 && f[13] == 6)
			world_receive(f, frame_arp(f, 2));
		else if (frame_segment(f, length, p, &flags, &n)) {
			all |= flags;
			p->expected += (uint32_t)n + !!(flags & SYN) + !!(flags & FIN);
			p->window = 8192;
			if (n || flags & (SYN | FIN))
				world_receive(f, frame_tcp(f, p, ACK, "", 0, 0));
		}
		world_work(1000);
	}
	return all;
}

/* Returns a socket that listens at port 7, and in `fd` its connection with `p`. */
static int accept_from(struct peer *p, struct quest_address *a, int *fd)
{
	int listener = socket_create(SOCK_STREAM, WORLD_PID);
	uint8_t f[FRAME_MAX];

	*a = (struct quest_address){ .port = 7 };
	CHECK(!socket_set(listener, QUEST_REUSE, 1));
	CHECK(!socket_bind(listener, a) && !socket_listen(listener, 1));
	world_receive(f, frame_tcp(f, p, SYN, "", 0, 0));
	while (!(obey(p) & SYN))
		;
	*fd = socket_accept(listener, WORLD_PID, a);
	return listener;
}

/* After TIME_WAIT, lwIP has freed the connection. The program still has the socket. */
TEST(net_uses_no_connection_that_lwip_has_freed)
{
	struct peer p = { .here = 2000, .there = 7, .next = 1, .window = 8192 };
	struct quest_address a;
	struct quest_datagram d = { .data = (uintptr_t)&a, .length = 4 };
	uint8_t f[FRAME_MAX];
	int listener, fd;

	world_begin(false);
	listener = accept_from(&p, &a, &fd);
	CHECK(fd >= 0 && a.port == 2000);
	CHECK(!socket_shutdown(fd, SHUT_WR));
	CHECK(obey(&p) & FIN);
	world_receive(f, frame_tcp(f, &p, ACK | FIN, "", 0, 0));
	(void)obey(&p);
	CHECK_EQ(tcp_waiting(), 1);
	pass(LONG_S);
	CHECK_EQ(tcp_waiting(), 0);
	CHECK_EQ(socket_receive(fd, NULL, &d), 0);
	CHECK_EQ(socket_send(fd, NULL, &d), -EPIPE);
	socket_close(fd);
	socket_close(listener);
	pass(1);
	CHECK_EQ(sockets_used(), 0);
}

/* The bytes that a closed socket still sends are not lost for a connection that gets no socket. */
TEST(a_connection_above_the_limit_of_a_program_costs_no_other)
{
	struct peer p = { .here = 2000, .there = 7, .next = 1, .window = 8192 };
	struct peer q = { .here = 2001, .there = 7, .next = 1, .window = 8192 };
	struct quest_address a;
	static char bytes[SOCKET_BYTES];
	struct quest_datagram d = { .data = (uintptr_t)bytes, .length = sizeof(bytes) };
	int listener, fd, i, more[SOCKETS_OF_ONE - 1];
	uint8_t f[FRAME_MAX];

	world_begin(false);
	listener = accept_from(&p, &a, &fd);
	CHECK(fd >= 0 && socket_send(fd, NULL, &d) == SOCKET_BYTES);
	socket_close(fd);
	for (i = 0; i < SOCKETS_OF_ONE - 1; i++) {
		more[i] = socket_create(SOCK_DGRAM, WORLD_PID);
		CHECK(more[i] >= 0);
	}
	CHECK_EQ(socket_create(SOCK_DGRAM, WORLD_PID), -EMFILE);
	world_work(1000);
	CHECK_EQ(sockets_used(), SOCKETS_OF_ONE + 1);
	while (world_sent(f))
		;
	world_receive(f, frame_tcp(f, &q, SYN, "", 0, 0));
	while (!(obey(&q) & RST))
		;
	CHECK_EQ(sockets_used(), SOCKETS_OF_ONE + 1);
	for (i = 0; i < SOCKETS_OF_ONE - 1; i++)
		socket_close(more[i]);
	socket_close(listener);
	pass(SETTLE_S);
	CHECK_EQ(sockets_used(), 0);
}

/* Accepts a connection with `p` for another job. */
static int accept_for(int job, int listener, struct peer *p)
{
	struct quest_address a;
	uint8_t f[FRAME_MAX];

	world_receive(f, frame_tcp(f, p, SYN, "", 0, 0));
	while (!(obey(p) & SYN))
		;
	return socket_accept(listener, job, &a);
}

/* The other ends of the connections of a greedy program never end them. */
TEST(a_program_that_closes_many_connections_ends_none_of_others)
{
	struct peer quiet = { .here = 1999, .there = 7, .next = 1, .window = 8192 }, p;
	struct quest_address a;
	unsigned int i;
	uint8_t f[FRAME_MAX];
	int fd, listener;

	world_begin(false);
	listener = accept_from(&quiet, &a, &fd);
	socket_close(fd);
	CHECK(obey(&quiet) & FIN);
	for (i = 0; i < 20; i++) {
		p = quiet;
		p.here = (uint16_t)(2000 + i);
		p.next = 1;
		fd = accept_for(WORLD_PID + 1, listener, &p);
		CHECK(fd >= 0);
		socket_close(fd);
		(void)obey(&p);
	}
	CHECK_EQ(tcp_closing(), 16);
	world_receive(f, frame_tcp(f, &quiet, ACK | FIN, "", 0, 0));
	CHECK(!(obey(&quiet) & RST));
	CHECK_EQ(tcp_closing(), 15);
	socket_close(listener);
	pass(SETTLE_S);
	CHECK_EQ(sockets_used(), 0);
}

/* Accepts a connection for another job, whose other end takes nothing. */
static int accept_deaf(int job, int listener, struct peer *p)
{
	struct quest_address a;
	uint8_t f[FRAME_MAX], flags = 0;
	size_t length, n;

	world_receive(f, frame_tcp(f, p, SYN, "", 0, 0));
	world_work(1000);
	while ((length = world_sent(f)))
		if (frame_segment(f, length, p, &flags, &n) && flags & SYN) {
			p->expected++;
			world_receive(f, frame_tcp(f, p, ACK, "", 0, 0));
		}
	world_work(1000);
	return socket_accept(listener, job, &a);
}

/* The other ends take no byte that a greedy program has sent. */
TEST(a_program_that_closes_many_full_sockets_leaves_room)
{
	struct peer quiet = { .here = 1999, .there = 7, .next = 1, .window = 8192 }, p;
	static char bytes[SOCKET_BYTES];
	struct quest_datagram d = { .data = (uintptr_t)bytes, .length = sizeof(bytes) };
	struct quest_address a;
	int i, fd, first, listener;
	uint8_t f[FRAME_MAX];

	world_begin(false);
	listener = accept_from(&quiet, &a, &first);
	CHECK_EQ(socket_send(first, NULL, &d), SOCKET_BYTES);
	socket_close(first);
	world_work(1000);
	while (world_sent(f))
		;
	for (i = 0; i < 14; i++) {
		p = (struct peer){ .here = (uint16_t)(2000 + i), .there = 7, .next = 1,
				   .window = 8192 };
		fd = accept_deaf(WORLD_PID + 1, listener, &p);
		CHECK(fd >= 0);
		CHECK_EQ(socket_send(fd, NULL, &d), SOCKET_BYTES);
		socket_close(fd);
	}
	world_work(1000);
	CHECK_EQ(sockets_used(), 1 + 1 + 8);
	socket_close(listener);
	pass(SETTLE_S);
	CHECK_EQ(sockets_used(), 0);
}

/* A second listener would get the connections of the first one. */
TEST(two_streams_cannot_listen_at_one_port)
{
	struct quest_address any = { .port = 7 }, one = { .port = 7 }, other = { .port = 8 };
	int first, second;

	world_begin(false);
	memcpy(&one.ip, (uint8_t[]){ 192, 168, 7, 2 }, sizeof(one.ip));
	first = socket_create(SOCK_STREAM, WORLD_PID);
	CHECK(!socket_set(first, QUEST_REUSE, 1));
	CHECK(!socket_bind(first, &any) && !socket_listen(first, 1) && !socket_listen(first, 2));
	second = socket_create(SOCK_STREAM, WORLD_PID);
	CHECK(!socket_set(second, QUEST_REUSE, 1));
	CHECK(!socket_bind(second, &one));
	CHECK_EQ(socket_listen(second, 1), -EADDRINUSE);
	socket_close(first);
	pass(1);
	CHECK_EQ(socket_listen(second, 1), 0);
	first = socket_create(SOCK_STREAM, WORLD_PID);
	CHECK(!socket_set(first, QUEST_REUSE, 1));
	CHECK(!socket_bind(first, &any));
	CHECK_EQ(socket_listen(first, 1), -EADDRINUSE);
	socket_close(first);
	first = socket_create(SOCK_STREAM, WORLD_PID);
	CHECK(!socket_bind(first, &other) && !socket_listen(first, 1));
	socket_close(first);
	socket_close(second);
	pass(1);
	CHECK_EQ(sockets_used(), 0);
}

/* A component that is started again listens at the port of its last start. */
TEST(a_port_is_free_once_its_program_has_ended)
{
	struct peer p = { .here = 2000, .there = 7, .next = 1, .window = 8192 };
	struct quest_address a, any = { .port = 7 };
	static char bytes[SOCKET_BYTES];
	struct quest_datagram d = { .data = (uintptr_t)bytes, .length = sizeof(bytes) };
	int first, listener, fd, again;

	world_begin(false);
	first = socket_create(SOCK_DGRAM, WORLD_PID);
	listener = accept_from(&p, &a, &fd);
	socket_close(first);
	pass(1);
	CHECK(fd >= 0 && socket_send(fd, NULL, &d) == SOCKET_BYTES);
	socket_close(fd);
	socket_close(listener);
	again = socket_create(SOCK_STREAM, WORLD_PID);
	CHECK_EQ(again, first);		/* it is served before those that were closed */
	CHECK(!socket_set(again, QUEST_REUSE, 1));
	CHECK_EQ(socket_bind(again, &any), 0);
	CHECK_EQ(socket_listen(again, 1), 0);
	CHECK_EQ(sockets_used(), 2);	/* the bytes of the connection still wait */
	socket_close(again);
	pass(SETTLE_S);
	CHECK_EQ(sockets_used(), 0);
}

/* The function has started again within one call of link(), and was given another address. */
TEST(another_address_of_the_function_is_told)
{
	uint8_t f[FRAME_MAX];
	unsigned int told = 0;

	world_begin(false);
	while (world_sent(f))
		;
	world_work(1000);
	CHECK_EQ(world_sent(f), 0);
	nic_device()->address[5] ^= 1;
	world_work(1000);
	while (world_sent(f)) {
		CHECK(!memcmp(f + 6, nic_device()->address, NIC_ADDRESS));
		told += f[12] == 8 && f[13] == 6;
	}
	CHECK_EQ(told, 1);
	world_work(1000);
	CHECK_EQ(world_sent(f), 0);
}
