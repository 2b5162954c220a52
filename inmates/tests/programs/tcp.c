// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcp: tries sockets for streams. `tcp echo`: sends back what connections to port 7 send, one after
 * the other, until one sends "end". `tcp errors`: errors and options of calls. `tcp polls`: serves
 * several connections to port 8 at once, with poll() and O_NONBLOCK, until one sends "end".
 * `tcp to PORT`: connects to an address that refuses, and to another, from which 40000 bytes come
 * back.
 * `tcp hold`: keeps a connection to port 7 open until it is killed. `tcp crowd`: takes as many
 * sockets and waits in as many calls as it and its children may, until it is killed.
 * Prints the number of failures.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <quest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>

#define OTHER	"10.0.2.2"	/* the gateway of QEMU's user network */
#define BACK	"10.0.2.100"	/* sends back; "end" at the end */
#define ECHO	7
#define POLLS	8
#define MUCH	40000

static int wrong;			/* number of results */
static char data[MUCH];

#define EXPECT(ok) \
	((void)((ok) || (printf("tcp: %d: " #ok ", errno %d\n", __LINE__, errno), wrong++)))
#define FAILS(error, call) (errno = 0, EXPECT((call) == -1 && errno == (error)))

static struct sockaddr_in at(const char *ip, int port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
				     .sin_addr.s_addr = ip ? inet_addr(ip) : INADDR_ANY };
}

static int bound(int port)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	struct sockaddr_in in = at(NULL, port);

	EXPECT(!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)));
	EXPECT(!bind(fd, (struct sockaddr *)&in, sizeof(in)));
	return fd;
}

static int listening(int port)
{
	int fd = bound(port);

	EXPECT(!listen(fd, 5));
	printf("tcp: ready\n");
	return fd;
}

static int is_end(const char *got, ssize_t n)
{
	return n == 3 && !memcmp(got, "end", 3);
}

static void echo(void)
{
	int fd = listening(ECHO), client, end = 0;
	struct sockaddr_in from, name;
	socklen_t length = sizeof(from);
	ssize_t n;

	while (!end) {
		length = sizeof(from);
		client = accept(fd, (struct sockaddr *)&from, &length);
		EXPECT(client >= 0 && !strcmp(inet_ntoa(from.sin_addr), OTHER));
		length = sizeof(name);
		EXPECT(!getpeername(client, (struct sockaddr *)&name, &length) &&
		       name.sin_port == from.sin_port);
		EXPECT(!getsockname(client, (struct sockaddr *)&name, &length) &&
		       ntohs(name.sin_port) == ECHO);
		while ((n = read(client, data, sizeof(data))) > 0) {
			end |= is_end(data, n);
			EXPECT(write(client, data, (size_t)n) == n);
		}
		if (n < 0)
			printf("tcp: read: errno %d\n", errno);
		EXPECT(!close(client));
	}
	EXPECT(!close(fd));
}

static void set_time(int fd, int option, int ms)
{
	struct timeval t = { 0, ms * 1000 }, got;
	socklen_t length = sizeof(got);

	EXPECT(!setsockopt(fd, SOL_SOCKET, option, &t, sizeof(t)));
	EXPECT(!getsockopt(fd, SOL_SOCKET, option, &got, &length) && got.tv_usec == t.tv_usec &&
	       !got.tv_sec && length == sizeof(got));
}

static int number_of(int fd, int option)
{
	int value = -1;
	socklen_t length = sizeof(value);

	EXPECT(!getsockopt(fd, SOL_SOCKET, option, &value, &length));
	return value;
}

static long ms_now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void errors_of_new(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), listener = listening(9), one = 1;
	struct sockaddr_in in = at(NULL, 9), foreign = at("10.0.0.1", 9);
	socklen_t length = sizeof(in);

	FAILS(ENOTCONN, read(fd, data, 1));
	FAILS(ENOTCONN, send(fd, data, 1, 0));
	FAILS(ENOTCONN, shutdown(fd, SHUT_WR));
	FAILS(ENOTCONN, getpeername(fd, (struct sockaddr *)&in, &length));
	FAILS(EINVAL, accept(fd, NULL, NULL));
	FAILS(EADDRINUSE, bind(fd, (struct sockaddr *)&in, sizeof(in)));
	FAILS(EADDRNOTAVAIL, bind(fd, (struct sockaddr *)&foreign, sizeof(foreign)));
	FAILS(ENOTSUP, send(fd, data, 1, 1));
	FAILS(ENOTSOCK, listen(1, 1));
	FAILS(EBADF, listen(10, 1));
	FAILS(ENOTCONN, recv(listener, data, 1, 0));
	FAILS(ENOPROTOOPT, setsockopt(fd, SOL_SOCKET, 99, &one, sizeof(one)));
	FAILS(EINVAL, setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, 1));
	EXPECT(!setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)));
	EXPECT(number_of(fd, SO_TYPE) == SOCK_STREAM && !number_of(fd, SO_ERROR));
	EXPECT(number_of(listener, SO_ACCEPTCONN) == 1 && !number_of(fd, SO_ACCEPTCONN));
	EXPECT(!close(fd) && !close(listener));
}

static void limits(void)
{
	int listener = listening(9), fds[8], n = 0;
	long begin = ms_now();
	struct pollfd p = { .fd = listener, .events = POLLIN };
	struct timeval t = { 0, 20000 };
	fd_set set;

	set_time(listener, SO_RCVTIMEO, 30);
	FAILS(EAGAIN, accept(listener, NULL, NULL));
	EXPECT(ms_now() - begin >= 29);
	EXPECT(!fcntl(listener, F_SETFL, O_NONBLOCK));
	EXPECT(fcntl(listener, F_GETFL) == (O_RDWR | O_NONBLOCK));
	FAILS(EAGAIN, accept(listener, NULL, NULL));
	begin = ms_now();
	EXPECT(!poll(&p, 1, 20) && !p.revents && ms_now() - begin >= 19);
	FD_ZERO(&set);
	FD_SET(listener, &set);
	EXPECT(!select(listener + 1, &set, NULL, NULL, &t) && !FD_ISSET(listener, &set));
	p.fd = 10;
	EXPECT(poll(&p, 1, 20) == 1 && p.revents == POLLNVAL);
	FAILS(EINVAL, poll(&p, 12, 20));
	while (n < 8 && (fds[n] = socket(AF_INET, SOCK_DGRAM, 0)) >= 0)
		n++;
	EXPECT(n == 7 && errno == EMFILE);
	while (n)
		EXPECT(!close(fds[--n]));
	EXPECT(!close(listener));
}

/* poll() and O_NONBLOCK of a pipe, and of a pipe next to a socket */
static void pipes(void)
{
	int fd[2], listener = listening(9), i;
	struct pollfd p[3];

	EXPECT(!pipe(fd));
	p[0] = (struct pollfd){ .fd = fd[0], .events = POLLIN };
	p[1] = (struct pollfd){ .fd = fd[1], .events = POLLOUT };
	p[2] = (struct pollfd){ .fd = listener, .events = POLLIN };
	EXPECT(poll(p, 2, -1) == 1 && !p[0].revents && p[1].revents == POLLOUT);
	EXPECT(!fcntl(fd[0], F_SETFL, O_NONBLOCK) && !fcntl(fd[1], F_SETFL, O_NONBLOCK));
	FAILS(EAGAIN, read(fd[0], data, 1));
	p[1].events = 0;
	for (i = 0; i < 2; i++) {
		if (!fork()) {
			(void)usleep(20000);
			_exit(write(fd[1], "x", 1) != 1);
		}
		EXPECT(poll(p, i ? 3 : 2, 10000) == 1 && p[0].revents == POLLIN);
		EXPECT(read(fd[0], data, 2) == 1 && wait(NULL) > 0);
	}
	while (write(fd[1], data, 100) > 0)
		;
	EXPECT(errno == EAGAIN);
	p[1].events = POLLOUT;
	EXPECT(poll(p + 1, 1, 0) == 0);
	EXPECT(!close(fd[0]) && poll(p + 1, 1, 0) == 1 && p[1].revents & POLLERR);
	EXPECT(!close(fd[1]) && !close(listener));
}

static void to(int port)
{
	struct sockaddr_in refuses = at(OTHER, 1), in = at(BACK, port);
	int fd = socket(AF_INET, SOCK_STREAM, 0), i, n, done;
	struct pollfd p = { .events = POLLOUT };
	static char back[MUCH];

	FAILS(ECONNREFUSED, connect(fd, (struct sockaddr *)&refuses, sizeof(refuses)));
	EXPECT(!close(fd));
	p.fd = fd = socket(AF_INET, SOCK_STREAM, 0);
	EXPECT(!fcntl(fd, F_SETFL, O_NONBLOCK));
	/* the other end may have answered by now */
	EXPECT(!connect(fd, (struct sockaddr *)&in, sizeof(in)) || errno == EINPROGRESS);
	EXPECT(connect(fd, (struct sockaddr *)&in, sizeof(in)) == -1 &&
	       (errno == EALREADY || errno == EISCONN));
	EXPECT(poll(&p, 1, 60000) == 1 && p.revents == POLLOUT && !number_of(fd, SO_ERROR));
	FAILS(EISCONN, connect(fd, (struct sockaddr *)&in, sizeof(in)));
	FAILS(EAGAIN, recv(fd, back, 1, 0));
	EXPECT(!fcntl(fd, F_SETFL, 0));
	for (i = 0; i < MUCH; i++)
		data[i] = (char)(i * 7 + i / 256);
	for (done = 0; done < MUCH; done += 8000) {
		EXPECT(send(fd, data + done, 8000, 0) == 8000);
		for (i = 0; i < 8000; i += n) {
			n = (int)recv(fd, back + done + i, (size_t)(8000 - i), 0);
			if (n <= 0) {
				EXPECT(n > 0);
				return;
			}
		}
	}
	EXPECT(!memcmp(data, back, MUCH));
	EXPECT(!shutdown(fd, SHUT_WR));
	FAILS(EPIPE, send(fd, data, 1, 0));
	EXPECT(recv(fd, back, 10, 0) == 3 && is_end(back, 3));
	EXPECT(recv(fd, back, 10, 0) == 0 && !close(fd));
}

static void polls(void)
{
	int listener = listening(POLLS), end = 0, i, count = 1;
	struct pollfd p[6] = { { .fd = listener, .events = POLLIN } };
	char got[100];
	ssize_t n;

	EXPECT(!fcntl(listener, F_SETFL, O_NONBLOCK));
	while (!end) {
		EXPECT(poll(p, (nfds_t)count, 60000) > 0);
		if (p[0].revents && count < 6) {
			p[count] = (struct pollfd){ .fd = accept(listener, NULL, NULL),
						    .events = POLLIN };
			EXPECT(p[count].fd >= 0);
			count++;
			continue;
		}
		for (i = count - 1; i; i--) {
			if (!p[i].revents)
				continue;
			n = recv(p[i].fd, got, sizeof(got), MSG_DONTWAIT);
			end |= is_end(got, n);
			EXPECT(n <= 0 || send(p[i].fd, got, (size_t)n, 0) == n);
			if (n > 0)
				continue;
			EXPECT(!close(p[i].fd));
			p[i] = p[--count];
		}
	}
}

static void hold(void)
{
	int fd = listening(ECHO), client = accept(fd, NULL, NULL);

	printf("tcp: holds\n");
	EXPECT(recv(client, data, 1, 0) == 1);
	for (;;)
		(void)send(client, data, sizeof(data), 0);
}

static void *receive(void *fd)
{
	char byte;

	return (void *)recv(*(int *)fd, &byte, 1, 0);
}

static void crowd(void)
{
	int child, fd, i, last = -1, n = 0;
	pthread_t t;

	for (child = 0; child < 3 && fork(); child++)
		;
	while ((fd = socket(AF_INET, SOCK_DGRAM, 0)) >= 0) {
		last = fd;
		n++;
	}
	for (i = 0; child < 3 && last >= 0 && i < 12; i++)
		EXPECT(!pthread_create(&t, NULL, receive, &last));
	printf("tcp: crowd %d\n", n);
	for (;;)
		(void)usleep(1000000);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "errors";

	if (!strcmp(what, "echo"))
		echo();
	else if (!strcmp(what, "polls"))
		polls();
	else if (!strcmp(what, "hold"))
		hold();
	else if (!strcmp(what, "crowd"))
		crowd();
	else if (argc > 2)
		to(atoi(argv[2]));
	else {
		errors_of_new();
		limits();
		pipes();
	}
	printf("tcp: %d wrong\n", wrong);
	return 0;
}
