// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver of the network function, lwIP and the sockets: the input is frames, of which the
 * function may describe some wrongly, calls of a program, and time. In the end the program closes
 * its sockets, all connections end, and lwIP must have freed all memory.
 */
#include <string.h>
#include <lwip/dhcp.h>
#include <lwip/etharp.h>
#include <lwip/ip4_frag.h>
#include <lwip/priv/tcp_priv.h>
#include "../../inmates/quest/net/end.h"
#include "../../inmates/quest/net/table.h"
#include "frames.h"
#include "fuzz.h"
#include "unit.h"

#define OPEN_MOST	8
#define PEERS		8
#define SECOND		1000000ull
#define PORTS		34		/* where they are in a frame */
#define TRANSACTION	46
#define REASSEMBLY_S	20		/* longer than lwIP keeps parts of a packet */

/* Records of an input */
enum { FRAME, CALL, PASS, RECORDS };
/* Bits of a frame */
enum { FIXED = 1, RELATED = 2, DESCRIBED = 4, ANSWER = 8 };
/* Bits of the first byte of an input */
enum { LISTENS = 1, ASKS_DHCP = 2 };

static const uint8_t *input;
static size_t left;
static struct peer peers[PEERS];	/* connections, by their ports */
static unsigned int num_peers;
static int fds[OPEN_MOST];
static unsigned int num_fds;
static uint8_t transaction[4];		/* of the cell's last request to a DHCP server */

static uint8_t take(void)
{
	if (!left)
		return 0;
	left--;
	return *input++;
}

static uint16_t take16(void)
{
	uint16_t high = take();

	return (uint16_t)(high << 8 | take());
}

/* ---- the other machine ---- */

static struct peer *known(uint16_t here, uint16_t there)
{
	unsigned int i;

	for (i = 0; i < num_peers; i++)
		if (peers[i].here == here && peers[i].there == there)
			return &peers[i];
	return NULL;
}

/*
 * Takes note of the numbers that the cell expects, and answers its questions for addresses. Returns
 * whether it has sent anything.
 */
static bool look(void)
{
	bool seen = false;
	uint8_t f[FRAME_MAX], flags;
	struct peer p = { 0 }, *k;
	size_t length, n;

	for (; (length = world_sent(f)); seen = true) {
		if (f[12] == 8 && f[13] == 6 && f[21] == 1) {
			world_receive(f, frame_arp(f, 2));
			continue;
		}
		if (f[23] == 17 && f[37] == 67)
			memcpy(transaction, f + TRANSACTION, sizeof(transaction));
		if (!frame_segment(f, length, &p, &flags, &n))
			continue;
		k = known(p.here, p.there);
		if (!k)
			k = &peers[num_peers < PEERS ? num_peers++ : 0];
		*k = p;
		k->expected += (uint32_t)n + !!(flags & SYN) + !!(flags & FIN);
	}
	return seen;
}

/* Makes a frame an answer to the cell, if its bits say so. */
static void fit(uint8_t *f, size_t length, uint8_t how)
{
	struct peer *p = NULL;

	if (length > PORTS + 4)
		p = known((uint16_t)(f[PORTS] << 8 | f[PORTS + 1]),
			  (uint16_t)(f[PORTS + 2] << 8 | f[PORTS + 3]));
	if (how & RELATED && p)
		frame_relate(f, length, p);
	if (how & ANSWER && length > TRANSACTION + sizeof(transaction))
		memcpy(f + TRANSACTION, transaction, sizeof(transaction));
	if (how & FIXED)
		frame_fix(f, length);
}

static void receive_frame(void)
{
	uint8_t f[FRAME_MAX] = { 0 }, how = take(), status = 0, errors = 0;
	size_t length = take16() % FRAME_MAX, n = length < left ? length : left;
	uint16_t described = 0;

	if (how & DESCRIBED) {
		status = take() | 1;	/* done: else the driver waits for it */
		errors = take();
		described = take16();
		n = length < left ? length : left;
	}
	memcpy(f, input, n);
	input += n;
	left -= n;
	fit(f, length, how);
	if (how & DESCRIBED)
		world_describe(f, length, described, status, errors);
	else
		world_receive(f, length);
}

/* ---- the program ---- */

static void keep(int fd)
{
	if (fd < 0)
		return;
	socket_set_blocking(fd, false);
	fds[num_fds++] = fd;
}

static int begin_socket(int type, uint16_t port, bool listens)
{
	struct quest_address at = { .port = port };
	int fd = num_fds < OPEN_MOST ? socket_create(type, WORLD_PID) : -1;

	if (fd < 0)
		return fd;
	keep(fd);
	(void)socket_set(fd, QUEST_REUSE, 1);
	if (port)
		(void)socket_bind(fd, &at);
	if (listens)
		(void)socket_listen(fd, 4);
	return fd;
}

static void transfer(int fd, bool sends)
{
	static char data[4096];
	struct quest_datagram d = { .data = (uintptr_t)data, .length = take16() % sizeof(data) };
	long n;

	if (sends) {
		d.address = (struct quest_address){ 0x0107A8C0, take() };
		n = socket_send(fd, NULL, &d);
	} else {
		d.flags = take() % 2 ? MSG_PEEK : 0;
		n = socket_receive(fd, NULL, &d);
	}
	CHECK(n <= (long)d.length);
}

static void use(int fd, unsigned int what)
{
	struct quest_address a = { 0x0107A8C0, 9 };

	switch (what) {
	case 0: if (num_fds < OPEN_MOST) keep(socket_accept(fd, WORLD_PID, &a)); break;
	case 1: (void)socket_connect(fd, &a); break;
	case 2: transfer(fd, true); break;
	case 3: transfer(fd, false); break;
	case 4: (void)socket_shutdown(fd, take() % 3); break;
	case 5: (void)socket_set(fd, take() % 9, take() % 2); break;
	default: (void)socket_ready(fd);
	}
}

static void call(void)
{
	static const int types[] = { SOCK_DGRAM, SOCK_STREAM, SOCK_STREAM };
	unsigned int what = take() % 12, which;

	if (what < 3) {
		(void)begin_socket(types[what], (uint16_t)(7 + take() % 4), what == 2);
	} else if (num_fds) {
		which = take() % num_fds;
		if (what == 3) {
			socket_close(fds[which]);
			fds[which] = fds[--num_fds];
		} else {
			use(fds[which], what - 4);
		}
	}
}

/* ---- all ---- */

static void begin(uint8_t how)
{
	num_peers = num_fds = 0;
	world_count_waits();
	if (how & LISTENS) {
		(void)begin_socket(SOCK_STREAM, 7, true);
		(void)begin_socket(SOCK_DGRAM, 9, false);
	}
	if (how & ASKS_DHCP)
		CHECK(dhcp_start(netif_default) == ERR_OK);
	world_work(1000);
}

static void stop_dhcp(void)
{
	ip4_addr_t address, mask, none = { 0 };

	dhcp_release_and_stop(netif_default);
	dhcp_cleanup(netif_default);
	IP4_ADDR(&address, 192, 168, 7, 2);
	IP4_ADDR(&mask, 255, 255, 255, 0);
	netif_set_addr(netif_default, &address, &mask, &none);
}

static void drain(void)
{
	uint8_t f[FRAME_MAX];

	do
		world_work(1000);
	while (world_sent(f));
}

/* Ends all that lwIP still has, so that inputs do not depend on those before. */
static void end(uint8_t how, unsigned int before)
{
	unsigned int i;

	while (num_fds)
		socket_close(fds[--num_fds]);
	drain();
	while (tcp_active_pcbs || tcp_tw_pcbs)
		tcp_abort(tcp_active_pcbs ? tcp_active_pcbs : tcp_tw_pcbs);
	drain();
	if (how & ASKS_DHCP)
		stop_dhcp();
	for (i = 0; i < REASSEMBLY_S; i++)
		ip_reass_tmr();
	etharp_cleanup_netif(netif_default);
	drain();
	CHECK_EQ(sockets_used(), 0);
	CHECK_EQ(tcp_closing(), 0);
	CHECK_EQ(world_allocated(), before);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	static bool begun;
	static unsigned int before;
	uint8_t how;

	if (!begun) {
		world_begin(false);
		etharp_cleanup_netif(netif_default);
		before = world_allocated();
		begun = true;
	}
	input = data;
	left = len;
	how = take();
	begin(how);
	while (left) {
		switch (take() % RECORDS) {
		case FRAME: receive_frame(); break;
		case CALL: call(); break;
		default: world_work(take() * SECOND / 16);
		}
		do
			world_work(1000);
		while (look());
	}
	end(how, before);
	return 0;
}
