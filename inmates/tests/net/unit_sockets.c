// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sockets that close, wait and share ports, against a machine that answers as TCP demands. The
 * driver and lwIP are those of unit_net.c.
 */
#include <string.h>
#include "../../quest/drivers/net/nic.h"
#include "../../quest/net/end.h"
#include "../../quest/net/table.h"
#include "../../quest/user/include/quest/errors.h"
#include "remote.h"
#include "unit.h"

/* Returns a socket that listens at port 7, and in `fd` its connection with `p`. */
static int accept_from(struct peer *p, struct quest_address *a, int *fd)
{
	int listener = socket_create(SOCK_STREAM, WORLD_PID);
	uint8_t f[FRAME_MAX];

	*a = (struct quest_address){ .port = 7 };
	CHECK(!socket_set(listener, QUEST_REUSE, 1));
	CHECK(!socket_bind(listener, a) && !socket_listen(listener, 1));
	world_receive(f, frame_tcp(f, p, SYN, "", 0, 0));
	while (!(remote_obey(p) & SYN))
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
	CHECK(remote_obey(&p) & FIN);
	world_receive(f, frame_tcp(f, &p, ACK | FIN, "", 0, 0));
	(void)remote_obey(&p);
	CHECK_EQ(tcp_waiting(), 1);
	remote_pass(LONG_S);
	CHECK_EQ(tcp_waiting(), 0);
	CHECK_EQ(socket_receive(fd, NULL, &d), 0);
	CHECK_EQ(socket_send(fd, NULL, &d), -EPIPE);
	socket_close(fd);
	socket_close(listener);
	remote_pass(1);
	CHECK_EQ(sockets_used(), 0);
}

/* Closes a connection. Then the other machine opens one more from its port, by `number`. */
static unsigned int open_again(uint32_t number)
{
	struct peer p = { .here = 2000, .there = 7, .next = 1000, .window = 8192 };
	struct quest_address a;
	uint8_t f[FRAME_MAX];
	unsigned int flags = 0, i;
	int listener, fd;

	world_begin(false);
	listener = accept_from(&p, &a, &fd);
	CHECK(fd >= 0);
	socket_close(fd);
	CHECK(remote_obey(&p) & FIN);
	world_receive(f, frame_tcp(f, &p, ACK | FIN, "", 0, 0));
	(void)remote_obey(&p);
	CHECK_EQ(tcp_waiting(), 1);
	p = (struct peer){ .here = 2000, .there = 7, .next = p.next + number, .window = 8192 };
	world_receive(f, frame_tcp(f, &p, SYN, "", 0, 0));
	for (i = 0; i < 4; i++)
		flags |= remote_obey(&p);
	socket_close(listener);
	remote_pass(SETTLE_S);
	CHECK_EQ(sockets_used(), 0);
	return flags;
}

/* Linux may use a port again at once, which is in TIME_WAIT here only. */
TEST(a_new_connection_ends_the_time_wait_of_an_older_one)
{
	CHECK(open_again(100000) & SYN);
}

TEST(the_next_number_is_new_enough_to_end_time_wait)
{
	CHECK(open_again(2) & SYN);
}

TEST(an_old_syn_that_was_long_on_its_way_ends_no_time_wait)
{
	CHECK(!(open_again((uint32_t)-1000) & SYN));
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
	while (!(remote_obey(&q) & RST))
		;
	CHECK_EQ(sockets_used(), SOCKETS_OF_ONE + 1);
	for (i = 0; i < SOCKETS_OF_ONE - 1; i++)
		socket_close(more[i]);
	socket_close(listener);
	remote_pass(SETTLE_S);
	CHECK_EQ(sockets_used(), 0);
}

/* Accepts a connection with `p` for another job. */
static int accept_for(int job, int listener, struct peer *p)
{
	struct quest_address a;
	uint8_t f[FRAME_MAX];

	world_receive(f, frame_tcp(f, p, SYN, "", 0, 0));
	while (!(remote_obey(p) & SYN))
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
	CHECK(remote_obey(&quiet) & FIN);
	for (i = 0; i < 20; i++) {
		p = quiet;
		p.here = (uint16_t)(2000 + i);
		p.next = 1;
		fd = accept_for(WORLD_PID + 1, listener, &p);
		CHECK(fd >= 0);
		socket_close(fd);
		(void)remote_obey(&p);
	}
	CHECK_EQ(tcp_closing(), 16);
	world_receive(f, frame_tcp(f, &quiet, ACK | FIN, "", 0, 0));
	CHECK(!(remote_obey(&quiet) & RST));
	CHECK_EQ(tcp_closing(), 15);
	socket_close(listener);
	remote_pass(SETTLE_S);
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
	remote_pass(SETTLE_S);
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
	remote_pass(1);
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
	remote_pass(1);
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
	remote_pass(1);
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
	remote_pass(SETTLE_S);
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
