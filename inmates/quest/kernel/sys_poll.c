// SPDX-License-Identifier: GPL-2.0-only
/* System calls: descriptors that are ready, and those whose calls do not wait. */
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "../drivers/input.h"
#include "../mm/usercopy.h"
#include "../net/socket.h"
#include "../user/include/quest/socket_types.h"
#include "../user/include/quest/types.h"
#include "clock.h"
#include "pipe.h"
#include "pollqueue.h"
#include "process/job.h"
#include "syscall.h"

#define US_MAX	(1ll << 42)		/* 50 days */
#define ALWAYS	(POLLERR | POLLHUP | POLLNVAL)

static int ready(const struct process *p, const struct open_file *f)
{
	switch (f ? f->kind : FILE_CLOSED) {
	case FILE_KEYBOARD:
		/* in the background, read() returns 0 at once */
		return input_ready() || !process_gets_keys(p) ? POLLIN : 0;
	case FILE_SCREEN:
		return POLLOUT;
	case FILE_ARCHIVE:
		return POLLIN | POLLOUT;
	case FILE_PIPE_READ:
		return pipe_ready(f->number, PIPE_READ);
	case FILE_PIPE_WRITE:
		return pipe_ready(f->number, PIPE_WRITE);
	case FILE_SOCKET:
		return socket_ready(f->number);
	case FILE_CLOSED:
		break;
	}
	return POLLNVAL;
}

/* Fills in what is ready. Returns how many descriptors are. */
static int look(struct process *p, struct pollfd *fds, unsigned int n)
{
	unsigned int i;
	int count = 0, bits;

	for (i = 0; i < n; i++) {
		bits = fds[i].fd < 0 ? 0 : ready(p, files_find(p, fds[i].fd));
		bits |= bits & POLLIN ? POLLRDNORM : 0;
		bits |= bits & POLLOUT ? POLLWRNORM : 0;
		fds[i].revents = (short)(bits & (fds[i].events | ALWAYS));
		count += fds[i].revents != 0;
	}
	return count;
}

static bool has_socket(struct process *p, const struct pollfd *fds, unsigned int n)
{
	const struct open_file *f;
	unsigned int i;

	for (i = 0; i < n; i++) {
		f = files_find(p, fds[i].fd);
		if (f && f->kind == FILE_SOCKET)
			return true;
	}
	return false;
}

/* Returns how many are ready, 0 after the time limit, or an error. */
static long wait_ready(struct process *p, struct pollfd *fds, unsigned int n, uint64_t until,
		       bool network)
{
	bool in_time = true;
	long count, error;

	for (;;) {
		count = look(p, fds, n);
		if (count || !in_time || !until)
			return count;
		in_time = wait_on_until(poll_queue(network), until);
		error = process_interrupted(p);
		if (error)
			return error;
	}
}

static long poll_with_sockets(struct process *p, struct pollfd *fds, unsigned int n, uint64_t until)
{
	long answer = socket_begin_wait();

	if (answer)
		return answer;
	poll_mixed(1);
	answer = wait_ready(p, fds, n, until, true);
	poll_mixed(-1);
	socket_end_wait();
	return answer;
}

/* The time is in us; negative: no limit. */
long sys_poll(struct call *c)
{
	const struct space *s = &c->process->space;
	int64_t us = (int64_t)c->arg[2];
	struct pollfd fds[FILES_MAX];
	uint64_t n = c->arg[1], until;
	long answer;

	if (n > FILES_MAX || us > US_MAX)
		return -EINVAL;
	if (!copy_from_user(s, fds, c->arg[0], n * sizeof(fds[0])) ||
	    !user_writable(s, c->arg[0], n * sizeof(fds[0])))
		return -EFAULT;
	until = us ? clock_wait_end(us < 0 ? UINT64_MAX : rdtsc() + timer_from_us((uint64_t)us)) :
		0;
	answer = has_socket(c->process, fds, (unsigned int)n) ?
		 poll_with_sockets(c->process, fds, (unsigned int)n, until) :
		 wait_ready(c->process, fds, (unsigned int)n, until, false);
	if (answer < 0 || copy_to_user(s, c->arg[0], fds, n * sizeof(fds[0])))
		return answer;
	return -EFAULT;
}

static long get_flags(const struct open_file *f)
{
	switch (f->kind) {
	case FILE_PIPE_READ:
		return pipe_blocking(f->number, PIPE_READ) ? O_RDONLY : O_RDONLY | O_NONBLOCK;
	case FILE_PIPE_WRITE:
		return pipe_blocking(f->number, PIPE_WRITE) ? O_WRONLY : O_WRONLY | O_NONBLOCK;
	case FILE_SOCKET:
		return socket_blocking(f->number) ? O_RDWR : O_RDWR | O_NONBLOCK;
	case FILE_SCREEN:
		return O_WRONLY;
	default:
		return O_RDONLY;
	}
}

static long set_flags(const struct open_file *f, int flags)
{
	bool blocking = !(flags & O_NONBLOCK);

	switch (f->kind) {
	case FILE_PIPE_READ:
		pipe_set_blocking(f->number, PIPE_READ, blocking);
		return 0;
	case FILE_PIPE_WRITE:
		pipe_set_blocking(f->number, PIPE_WRITE, blocking);
		return 0;
	case FILE_SOCKET:
		socket_set_blocking(f->number, blocking);
		return 0;
	case FILE_ARCHIVE:
		return 0;		/* its calls never wait */
	default:
		return blocking ? 0 : -ENOTSUP;
	}
}

long sys_fcntl(struct call *c)
{
	const struct open_file *f = files_find(c->process, call_int(c, 0));

	if (!f)
		return -EBADF;
	switch (call_int(c, 1)) {
	case F_GETFL: return get_flags(f);
	case F_SETFL: return set_flags(f, call_int(c, 2));
	default: return -EINVAL;
	}
}
