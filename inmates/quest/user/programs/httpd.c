// SPDX-License-Identifier: GPL-2.0-only
/*
 * httpd [PORT]: a server of HTTP/1.1 on port 80. It serves the files of the archive by their names,
 * a page on the state of the system as `/`, and N bytes as `/bytes/N`. It ends each connection
 * after the answer. Serves up to 6 connections at once, in one thread, with poll(); others wait. A
 * connection that is idle for 10 s is closed.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <quest.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define PORT		80
#define CLIENTS		6		/* with descriptors for the listener and a file */
#define REQUEST		1024		/* longest request, with its header */
#define IDLE_S		10
#define BYTES_MAX	100000000l

struct client {
	int fd;
	time_t since;			/* when its last byte came or went */
	char request[REQUEST];
	size_t length;
	int answers;			/* the request is complete */
	char text[REQUEST];		/* header, and the page on the state */
	size_t text_length, text_sent;
	size_t file;			/* where its name is in the request; 0: none */
	/* of the file or of /bytes/N: number of bytes, and of those not sent yet */
	long length_all, left;
};

static struct client clients[CLIENTS];
static int num_clients;
static unsigned long requests, refused;

static void drop(struct client *c)
{
	(void)close(c->fd);
	num_clients--;
	*c = clients[num_clients];
}

static void add(struct client *c, const char *format, ...)
{
	size_t room = sizeof(c->text) - c->text_length;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(c->text + c->text_length, room, format, ap);
	va_end(ap);
	if (n > 0)
		c->text_length += (size_t)n < room ? (size_t)n : room - 1;
}

static void head(struct client *c, const char *status, const char *type, long length)
{
	add(c, "HTTP/1.1 %s\r\nServer: Quest\r\nContent-Type: %s\r\nContent-Length: %ld\r\n"
	    "Connection: close\r\n\r\n", status, type, length);
}

static void answer_error(struct client *c, const char *status)
{
	refused++;
	head(c, status, "text/plain", (long)strlen(status) + 1);
	add(c, "%s\n", status);
}

static void answer_state(struct client *c)
{
	struct meminfo memory = { 0 };
	struct utsname name;
	char page[400];
	int n;

	(void)uname(&name);
	(void)meminfo(&memory);
	n = snprintf(page, sizeof(page), "<!DOCTYPE html><title>%s</title><h1>%s, cell %s</h1>\n"
		     "<p>up for %ld s; %lu KiB of %lu KiB are free; %lu requests, %lu refused\n",
		     name.sysname, name.sysname, name.nodename, (long)time(NULL),
		     (unsigned long)memory.free_kib, (unsigned long)memory.total_kib, requests,
		     refused);
	head(c, "200 OK", "text/html", n);
	add(c, "%s", page);
}

static int ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n >= m && !strcmp(name + n - m, end);
}

static const char *type_of(const char *name)
{
	return ends_in(name, ".html") ? "text/html" : ends_in(name, ".txt") ? "text/plain" :
	       ends_in(name, ".pgm") ? "image/x-portable-graymap" : "application/octet-stream";
}

static void answer_file(struct client *c, const char *name)
{
	int fd = open(name, O_RDONLY);

	if (fd < 0) {
		answer_error(c, "404 Not Found");
		return;
	}
	c->file = (size_t)(name - c->request);
	c->length_all = c->left = lseek(fd, 0, SEEK_END);
	(void)close(fd);
	head(c, "200 OK", type_of(name), c->left);
}

static void answer_bytes(struct client *c, const char *number)
{
	long n = atol(number);

	if (n < 0 || n > BYTES_MAX) {
		answer_error(c, "400 Bad Request");
		return;
	}
	c->left = n;
	head(c, "200 OK", "application/octet-stream", n);
}

/* The request is complete, and ends with a NUL. */
static void answer(struct client *c)
{
	int only_head = !strncmp(c->request, "HEAD ", 5);
	char *path = c->request + (only_head ? 5 : 4), *end = strchr(path, ' ');

	c->answers = 1;
	requests++;
	if ((!only_head && strncmp(c->request, "GET ", 4)) || !end || *path != '/') {
		answer_error(c, "400 Bad Request");
		return;
	}
	*end = 0;
	if (!strcmp(path, "/"))
		answer_state(c);
	else if (!strncmp(path, "/bytes/", 7))
		answer_bytes(c, path + 7);
	else
		answer_file(c, path + 1);
	if (only_head) {
		c->left = 0;
		c->text_length = (size_t)(strstr(c->text, "\r\n\r\n") + 4 - c->text);
	}
}

/* Reads a part of the request. Returns 0 if the connection is to be dropped. */
static int take(struct client *c)
{
	ssize_t n = recv(c->fd, c->request + c->length, REQUEST - 1 - c->length, 0);

	if (n <= 0)
		return n < 0 && errno == EAGAIN;
	c->length += (size_t)n;
	c->request[c->length] = 0;
	if (strstr(c->request, "\r\n\r\n")) {
		answer(c);
	} else if (c->length == REQUEST - 1) {
		c->answers = 1;
		answer_error(c, "431 Request Header Fields Too Large");
	}
	return 1;
}

/* Returns whether it has read the next bytes. The file is open only meanwhile. */
static int read_file(const struct client *c, char *to, long n)
{
	int fd = open(c->request + c->file, O_RDONLY), got;

	if (fd < 0)
		return 0;
	got = lseek(fd, c->length_all - c->left, SEEK_SET) >= 0 && read(fd, to, (size_t)n) == n;
	(void)close(fd);
	return got;
}

/* Sends what fits of the file or the bytes. Returns as give(). */
static int give_rest(struct client *c)
{
	static char data[4096];
	long part = c->left < (long)sizeof(data) ? c->left : (long)sizeof(data);
	ssize_t n;

	if (!c->file)
		(void)memset(data, 'q', (size_t)part);
	else if (!read_file(c, data, part))
		return 0;
	n = send(c->fd, data, (size_t)part, 0);
	if (n < 0)
		return errno == EAGAIN;
	c->left -= n;
	return n < part ? 1 : c->left > 0 ? 2 : 0;
}

/* Returns 0: the connection is to be dropped; 1: nothing fits now; 2: more may fit. */
static int give(struct client *c)
{
	ssize_t n;

	if (c->text_sent == c->text_length)
		return c->left ? give_rest(c) : 0;
	n = send(c->fd, c->text + c->text_sent, c->text_length - c->text_sent, 0);
	if (n < 0)
		return errno == EAGAIN;
	c->text_sent += (size_t)n;
	return 2;
}

static int serve(struct client *c)
{
	int more;

	c->since = time(NULL);
	if (!c->answers && !take(c))
		return 0;
	if (!c->answers)
		return 1;
	do
		more = give(c);
	while (more == 2);
	return more;
}

static void welcome(int listener)
{
	int fd = accept(listener, NULL, NULL);

	if (fd < 0)
		return;
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	clients[num_clients++] = (struct client){ .fd = fd, .since = time(NULL) };
}

static void run(int listener)
{
	struct pollfd fds[CLIENTS + 1];
	int i, n;

	for (;;) {
		n = num_clients;
		for (i = 0; i < n; i++)
			fds[i] = (struct pollfd){ .fd = clients[i].fd,
						  .events = clients[i].answers ? POLLOUT : POLLIN };
		fds[n] = (struct pollfd){ .fd = n < CLIENTS ? listener : -1, .events = POLLIN };
		if (poll(fds, (nfds_t)n + 1, IDLE_S * 1000) < 0)
			(void)usleep(10000);	/* too many threads wait for sockets */
		/* backwards, since drop() moves the last one */
		for (i = n - 1; i >= 0; i--)
			if ((fds[i].revents && !serve(&clients[i])) ||
			    time(NULL) - clients[i].since > IDLE_S)
				drop(&clients[i]);
		if (fds[n].revents)
			welcome(listener);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	in.sin_port = htons((uint16_t)(argc > 1 ? atoi(argv[1]) : PORT));
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (struct sockaddr *)&in, sizeof(in)) || listen(fd, SOMAXCONN) ||
	    fcntl(fd, F_SETFL, O_NONBLOCK)) {
		perror("httpd");
		return 1;
	}
	printf("httpd: serves port %d\n", ntohs(in.sin_port));
	run(fd);
}
