// SPDX-License-Identifier: GPL-2.0-only
/*
 * udpecho: sends datagrams to port 7 back, until one says "end". Before that, tries the errors of
 * sockets. Prints "udpecho: ready", and at last how many came.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <quest.h>
#include <stdio.h>
#include <string.h>

#define ECHO	7

static int wrong;			/* number of results */

static void want(int error, long result, const char *call)
{
	if (result == -1 && errno == error)
		return;
	printf("udpecho: %s: %ld, errno %d, not %d\n", call, result, errno, error);
	wrong++;
}

static void try_errors(int fd, const struct sockaddr_in *in)
{
	const struct sockaddr *to = (const struct sockaddr *)in;
	struct sockaddr_in far = { .sin_family = AF_INET, .sin_port = htons(ECHO),
				   .sin_addr = { htonl(0x0A000001) } };
	static char data[1473];
	int other = socket(AF_INET, SOCK_DGRAM, 0);

	want(ENOTSUP, socket(AF_INET, 3, 0), "socket of another type");
	want(EADDRINUSE, bind(other, to, sizeof(*in)), "bind twice");
	want(EINVAL, bind(other, to, 4), "bind to a part");
	want(ENOTSOCK, bind(1, to, sizeof(*in)), "bind of the screen");
	want(EFAULT, sendto(fd, (void *)8, 1, 0, to, sizeof(*in)), "sendto from 8");
	want(EMSGSIZE, sendto(fd, data, sizeof(data), 0, to, sizeof(*in)), "sendto of 1473");
	want(EHOSTUNREACH, sendto(fd, data, 1, 0, (struct sockaddr *)&far, sizeof(far)),
	     "sendto without a way");
	want(EDESTADDRREQ, send(fd, data, 1, 0), "send without an address");
	want(EAGAIN, recv(fd, data, 1, MSG_DONTWAIT), "recv of nothing");
	(void)close(other);
	want(EBADF, bind(other, to, sizeof(*in)), "bind after close");
}

int main(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(ECHO) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), count = 0;
	static char data[1472];
	socklen_t length;
	ssize_t n;

	if (fd < 0 || bind(fd, (struct sockaddr *)&in, sizeof(in))) {
		perror("udpecho");
		return 1;
	}
	try_errors(fd, &in);
	printf("udpecho: ready\n");
	do {
		length = sizeof(in);
		n = recvfrom(fd, data, sizeof(data), 0, (struct sockaddr *)&in, &length);
		if (n < 0 || sendto(fd, data, (size_t)n, 0, (struct sockaddr *)&in, length) != n)
			wrong++;
		count++;
	} while (n != 3 || memcmp(data, "end", 3));
	printf("udpecho: %d came, %d wrong\n", count, wrong);
	return 0;
}
