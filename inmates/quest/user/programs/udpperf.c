// SPDX-License-Identifier: GPL-2.0-only
/*
 * udpperf send ADDRESS PORT SECONDS [BYTES]: sends datagrams of BYTES (1472) as fast as it can,
 * then one of no bytes. udpperf receive PORT: counts datagrams until one of no bytes has come. Both
 * print the number, and bytes in a second.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <quest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX	1472

static char data[BYTES_MAX];

static long now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void report(const char *what, long count, long bytes, long us)
{
	printf("udpperf: %s %ld datagrams, %ld bytes in %ld us: %ld KiB/s\n", what, count, bytes,
	       us, us ? bytes * 1000 / 1024 * 1000 / us : 0);
}

static int sends(const struct sockaddr_in *to, long seconds, long size)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	long begin = now_us(), end = begin + seconds * 1000000, count = 0;

	if (fd < 0 || connect(fd, (const struct sockaddr *)to, sizeof(*to))) {
		perror("udpperf");
		return 1;
	}
	while (now_us() < end) {
		if (send(fd, data, (size_t)size, 0) == size)
			count++;
		else if (errno != ENOMEM)
			return perror("udpperf"), 1;
	}
	report("sent", count, count * size, now_us() - begin);
	(void)usleep(100000);		/* the other end has room again */
	return send(fd, data, 0, 0) != 0;
}

static int receives(int port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	long begin = 0, last = 0, count = 0, bytes = 0;
	ssize_t n;

	if (fd < 0 || bind(fd, (struct sockaddr *)&in, sizeof(in))) {
		perror("udpperf");
		return 1;
	}
	printf("udpperf: ready\n");
	while ((n = recv(fd, data, sizeof(data), 0)) > 0) {
		last = now_us();
		if (!count++)
			begin = last;
		bytes += n;
	}
	report("received", count, bytes, last - begin);
	return n < 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	long size = argc > 5 ? atol(argv[5]) : BYTES_MAX;

	if (argc == 3 && !strcmp(argv[1], "receive"))
		return receives(atoi(argv[2]));
	if (argc < 5 || strcmp(argv[1], "send") || !inet_aton(argv[2], &to.sin_addr) || size < 1 ||
	    size > BYTES_MAX) {
		fprintf(stderr, "usage: udpperf send ADDRESS PORT SECONDS [BYTES]\n"
			"       udpperf receive PORT\n");
		return 1;
	}
	to.sin_port = htons((uint16_t)atoi(argv[3]));
	return sends(&to, atol(argv[4]), size);
}
