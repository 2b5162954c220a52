// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/select.h>
#include "raw.h"

#define US_PER_MS	1000l
#define US_PER_S	1000000l
#define S_MAX		(1l << 22)	/* 48 days */
#define READABLE	(POLLIN | POLLHUP | POLLERR)
#define WRITABLE	(POLLOUT | POLLERR)

int poll(struct pollfd *fds, nfds_t n, int ms)
{
	return (int)posix_answer(quest_poll(fds, n, ms < 0 ? -1 : ms * US_PER_MS));
}

int fcntl(int fd, int command, ...)
{
	int value = 0;
	va_list ap;

	va_start(ap, command);
	if (command == F_SETFL)
		value = va_arg(ap, int);
	va_end(ap);
	return (int)posix_answer(quest_fcntl(fd, command, value));
}

static int in(int fd, const fd_set *set)
{
	return set && FD_ISSET(fd, set);
}

/* Leaves in `set` the descriptors that have one of `bits`. Returns how many. */
static int keep(fd_set *set, const struct pollfd *fds, unsigned int n, int bits)
{
	fd_set old = { set ? set->bits : 0 };
	unsigned int i;
	int count = 0;

	if (!set)
		return 0;
	FD_ZERO(set);
	for (i = 0; i < n; i++) {
		if (!in(fds[i].fd, &old) || !(fds[i].revents & bits))
			continue;
		FD_SET(fds[i].fd, set);
		count++;
	}
	return count;
}

static unsigned int describe(struct pollfd *fds, int n, const fd_set *reads, const fd_set *writes)
{
	unsigned int count = 0;
	int fd;

	for (fd = 0; fd < n && count < OPEN_MAX; fd++)
		if (in(fd, reads) || in(fd, writes))
			fds[count++] = (struct pollfd){ .fd = fd, .events =
				(in(fd, reads) ? POLLIN : 0) | (in(fd, writes) ? POLLOUT : 0) };
	return count;
}

int select(int n, fd_set *reads, fd_set *writes, fd_set *exceptions, struct timeval *limit)
{
	struct pollfd fds[OPEN_MAX];
	unsigned int count, i;
	long us = -1, answer;

	if (n < 0 || n > FD_SETSIZE)
		return (int)posix_answer(-EINVAL);
	if (limit && (limit->tv_sec < 0 || limit->tv_sec > S_MAX || limit->tv_usec < 0 ||
		      limit->tv_usec >= US_PER_S))
		return (int)posix_answer(-EINVAL);
	if (limit)
		us = limit->tv_sec * US_PER_S + limit->tv_usec;
	count = describe(fds, n, reads, writes);
	answer = quest_poll(fds, count, us);
	if (answer < 0)
		return (int)posix_answer(answer);
	for (i = 0; i < count; i++)
		if (fds[i].revents & POLLNVAL)
			return (int)posix_answer(-EBADF);
	if (exceptions)
		FD_ZERO(exceptions);
	return keep(reads, fds, count, READABLE) + keep(writes, fds, count, WRITABLE);
}
