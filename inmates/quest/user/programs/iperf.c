// SPDX-License-Identifier: GPL-2.0-only
/*
 * iperf -s [-u] [-p PORT]: measures the bytes of clients, by TCP or UDP, one after the other.
 * iperf -c ADDRESS [-u] [-p PORT] [-t SECONDS] [-l BYTES]: sends as fast as it can. The other end
 * is iperf 2, here or in Linux. Datagrams have numbers, so the server counts those that are lost,
 * that came late, and that came twice.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <quest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#define PORT		5001
#define SECONDS		10
#define TCP_BYTES	8192
#define UDP_BYTES	1472
#define WINDOW		4096		/* a datagram so far behind the newest is late, not twice */
#define TRIES		10		/* of the last datagram, until the server has answered */
#define ANSWER_US	250000
#define IDLE_US		5000000		/* a client that is silent for so long has ended */

/* The words of a datagram and of the server's answer are big-endian. */
struct datagram {
	/* from 1 on; the last one has minus the next number, and does not count */
	uint32_t number;
	uint32_t s, us, upper;
	uint32_t settings[6];		/* of the client; 0: none */
};

struct answer {
	uint32_t number, s_sent, us_sent, upper;	/* of the last datagram */
	uint32_t flags, bytes_upper, bytes, s, us, lost, late, datagrams, jitter_s, jitter_us;
};

#define HAS_ANSWER	0x80000000u	/* a flag */

/* The datagrams of a client; times in us */
struct session {
	struct sockaddr_in from;
	int ended;
	long bytes, begin, last;
	long newest, count, late, twice;	/* datagrams */
	unsigned char seen[WINDOW];
};

static union {
	char bytes[TCP_BYTES];
	struct datagram datagram;
	struct answer answer;
} data;
static struct session now;

static long now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int fail(void)
{
	perror("iperf");
	return 1;
}

static void print_rate(const char *what, long bytes, long us)
{
	printf("iperf: %s %ld bytes in %ld us: %ld kbit/s", what, bytes, us,
	       us > 0 ? bytes * 8 * 1000 / us : 0);
}

/* ---- the server ---- */

static void note(long number)
{
	long n;

	if (number <= now.newest) {
		if (number > now.newest - WINDOW && now.seen[number % WINDOW])
			now.twice++;
		else
			now.late++;
	}
	for (n = now.newest + 1; n < number && n <= now.newest + WINDOW; n++)
		now.seen[n % WINDOW] = 0;
	now.seen[number % WINDOW] = 1;
	if (number > now.newest)
		now.newest = number;
	now.count++;
}

static long lost(void)
{
	long arrived = now.count - now.twice;

	return now.newest > arrived ? now.newest - arrived : 0;
}

static void print_datagrams(void)
{
	print_rate("received", now.bytes, now.last - now.begin);
	printf(" in %ld datagrams of %ld; lost %ld, late %ld, twice %ld\n", now.count, now.newest,
	       lost(), now.late, now.twice);
}

/* The client prints it. The client sends the last datagram again until it has come. */
static void send_answer(int fd, size_t n)
{
	struct answer *a = &data.answer;
	long us = now.last - now.begin;

	if (n < sizeof(*a))
		return;
	a->flags = htonl(HAS_ANSWER);
	a->bytes_upper = htonl((uint32_t)(now.bytes >> 32));
	a->bytes = htonl((uint32_t)now.bytes);
	a->s = htonl((uint32_t)(us / 1000000));
	a->us = htonl((uint32_t)(us % 1000000));
	a->lost = htonl((uint32_t)lost());
	a->late = htonl((uint32_t)now.late);
	a->datagrams = htonl((uint32_t)now.newest);
	a->jitter_s = a->jitter_us = 0;
	(void)sendto(fd, a, n, 0, (struct sockaddr *)&now.from, sizeof(now.from));
}

static int is_from(const struct sockaddr_in *from)
{
	return from->sin_addr.s_addr == now.from.sin_addr.s_addr &&
	       from->sin_port == now.from.sin_port;
}

static void end(int fd, long newest, size_t n)
{
	if (!now.ended) {
		if (newest > now.newest)
			now.newest = newest;
		now.ended = 1;
		print_datagrams();
	}
	send_answer(fd, n);
}

/* While a client sends, datagrams of others are dropped. */
static int drops(const struct sockaddr_in *from)
{
	return now.count && !now.ended && !is_from(from) && now_us() - now.last < IDLE_US;
}

static void take(int fd, const struct sockaddr_in *from, size_t n)
{
	long number = (int32_t)ntohl(data.datagram.number);

	if (n < sizeof(data.datagram.number) || !number || drops(from))
		return;
	if (number < 0) {
		if (now.count && is_from(from))
			end(fd, -number - 1, n);
		return;
	}
	if (now.ended || !is_from(from)) {
		(void)memset(&now, 0, sizeof(now));
		now.from = *from;
		now.begin = now_us();
	}
	now.last = now_us();
	now.bytes += (long)n;
	note(number);
}

static int serve_datagrams(int fd)
{
	struct sockaddr_in from;
	socklen_t length;
	ssize_t n;

	for (;;) {
		length = sizeof(from);
		n = recvfrom(fd, &data, sizeof(data), 0, (struct sockaddr *)&from, &length);
		if (n < 0)
			return fail();
		take(fd, &from, (size_t)n);
	}
}

static int serve_streams(int fd)
{
	long begin, bytes;
	int client;
	ssize_t n;

	for (;;) {
		client = accept(fd, NULL, NULL);
		if (client < 0)
			return fail();
		begin = now_us();
		for (bytes = 0; (n = recv(client, &data, sizeof(data), 0)) > 0; bytes += n)
			;
		print_rate("received", bytes, now_us() - begin);
		printf("\n");
		(void)close(client);
	}
}

static int serve(const struct sockaddr_in *at, int type)
{
	int fd = socket(AF_INET, type, 0), one = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (const struct sockaddr *)at, sizeof(*at)) ||
	    (type == SOCK_STREAM && listen(fd, 1)))
		return fail();
	printf("iperf: serves %s port %d\n", type == SOCK_STREAM ? "TCP" : "UDP",
	       ntohs(at->sin_port));
	return type == SOCK_STREAM ? serve_streams(fd) : serve_datagrams(fd);
}

/* ---- the client ---- */

static int send_number(int fd, long number, size_t size)
{
	long us = now_us();

	data.datagram.number = htonl((uint32_t)number);
	data.datagram.s = htonl((uint32_t)(us / 1000000));
	data.datagram.us = htonl((uint32_t)(us % 1000000));
	data.datagram.upper = number < 0 ? ~0u : 0;
	return send(fd, &data, size, 0) == (ssize_t)size;
}

/* The last datagram goes again until the server has said what has arrived. */
static int ask_server(int fd, long count, size_t size)
{
	struct timeval limit = { .tv_usec = ANSWER_US };
	const struct answer *a = &data.answer;
	int i;

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	for (i = 0; i < TRIES; i++) {
		(void)memset(&data, 0, sizeof(struct answer));
		(void)send_number(fd, -count - 1, size);
		if (recv(fd, &data, sizeof(data), 0) < (ssize_t)sizeof(*a) ||
		    !(ntohl(a->flags) & HAS_ANSWER))
			continue;
		printf("iperf: the server has got %lu bytes; lost %u, late %u of %u\n",
		       (unsigned long)ntohl(a->bytes_upper) << 32 | ntohl(a->bytes),
		       ntohl(a->lost), ntohl(a->late), ntohl(a->datagrams));
		return 0;
	}
	fprintf(stderr, "iperf: the server does not answer\n");
	return 1;
}

static int send_datagrams(int fd, long seconds, size_t size)
{
	long begin = now_us(), limit = begin + seconds * 1000000, count = 0;

	while (now_us() < limit) {
		if (send_number(fd, count + 1, size))
			count++;
		else if (errno != ENOMEM)
			return fail();
	}
	print_rate("sent", count * (long)size, now_us() - begin);
	printf(" in %ld datagrams\n", count);
	return ask_server(fd, count, size);
}

static int send_stream(int fd, long seconds, size_t size)
{
	long begin = now_us(), limit = begin + seconds * 1000000, bytes = 0;
	ssize_t n;

	while (now_us() < limit) {
		n = send(fd, &data, size, 0);
		if (n < 0)
			return fail();
		bytes += n;
	}
	/* all has arrived when the server closes its end */
	if (shutdown(fd, SHUT_WR) || recv(fd, &data, sizeof(data), 0) < 0)
		return fail();
	print_rate("sent", bytes, now_us() - begin);
	printf("\n");
	return 0;
}

static int run_client(const struct sockaddr_in *to, int type, long seconds, size_t size)
{
	int fd = socket(AF_INET, type, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)to, sizeof(*to)))
		return fail();
	return type == SOCK_STREAM ? send_stream(fd, seconds, size) :
				     send_datagrams(fd, seconds, size);
}

static int usage(void)
{
	fprintf(stderr, "usage: iperf -s [-u] [-p PORT]\n"
		"       iperf -c ADDRESS [-u] [-p PORT] [-t SECONDS] [-l BYTES]\n");
	return 1;
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	long seconds = SECONDS, size = 0, port = PORT, most;
	int i, type = SOCK_STREAM, server = 0, client = 0;
	const char *next;

	for (i = 1; i < argc; i++) {
		next = i + 1 < argc ? argv[i + 1] : "";
		if (!strcmp(argv[i], "-s"))
			server = 1;
		else if (!strcmp(argv[i], "-u"))
			type = SOCK_DGRAM;
		else if (!strcmp(argv[i], "-c") && inet_aton(next, &at.sin_addr))
			client = ++i;
		else if (!strcmp(argv[i], "-p") && *next)
			port = atol(argv[++i]);
		else if (!strcmp(argv[i], "-t") && *next)
			seconds = atol(argv[++i]);
		else if (!strcmp(argv[i], "-l") && *next)
			size = atol(argv[++i]);
		else
			return usage();
	}
	most = type == SOCK_STREAM ? TCP_BYTES : UDP_BYTES;
	size = size ? size : most;
	if (!server == !client || port < 1 || port > 65535 || seconds < 1 || size > most ||
	    size < (long)sizeof(struct answer))
		return usage();
	at.sin_port = htons((uint16_t)port);
	return server ? serve(&at, type) : run_client(&at, type, seconds, (size_t)size);
}
