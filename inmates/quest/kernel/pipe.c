// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <inmate/ring.h>
#include "../mm/pages.h"
#include "../mm/usercopy.h"
#include "../user/include/quest/errors.h"
#include "../user/include/quest/socket_types.h"
#include "../user/include/quest/types.h"
#include "dispatch.h"
#include "pipe.h"
#include "pollqueue.h"
#include "process/process.h"

_Static_assert(PIPE_BYTES == PAGE_SIZE && PIPE_BUF <= PIPE_BYTES, "a page each");

static struct pipe {
	/* physical address of the pipe's page; 0: there is no such pipe */
	uint64_t page;
	uint32_t head, tail;		/* numbers of bytes written and read so far */
	unsigned int ends[2];		/* number of open ends, by enum pipe_end */
	bool nonblocking[2];		/* calls of these ends do not wait */
	/* number of calls of pipe_read(), pipe_write() and pipe_close() in progress */
	unsigned int calls;
	/* threads that wait for bytes, for room, or for the last other end to close */
	struct wait_queue changed;
} pipes[PIPE_MAX];

int pipe_create(void)
{
	struct pipe *p;

	for (p = pipes; p < pipes + PIPE_MAX && p->page; p++)
		;
	if (p == pipes + PIPE_MAX)
		return -EMFILE;
	*p = (struct pipe){ .page = pages_alloc(1), .ends = { 1, 1 } };
	return p->page ? (int)(p - pipes) : -ENOMEM;
}

static void drop(struct pipe *p)
{
	if (p->ends[PIPE_READ] || p->ends[PIPE_WRITE] || p->calls)
		return;
	pages_free(p->page, 1);
	p->page = 0;
}

void pipe_open(int pipe, enum pipe_end end)
{
	pipes[pipe].ends[end]++;
}

/* Other threads run meanwhile. */
static void wake(struct pipe *p)
{
	wake_many(&p->changed);
	poll_wake();
}

void pipe_close(int pipe, enum pipe_end end)
{
	struct pipe *p = &pipes[pipe];

	if (--p->ends[end])
		return;
	p->calls++;			/* others run meanwhile, and may close the other end */
	wake(p);
	p->calls--;
	drop(p);
}

static uint32_t held(const struct pipe *p)
{
	return p->head - p->tail;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint8_t *byte_at(const struct pipe *p, uint32_t at)
{
	return (uint8_t *)(uintptr_t)p->page + ring_slot(at, PIPE_BYTES);
}

/*
 * copy_out() copies `n` bytes from the ring's tail, and copy_in() copies `n` bytes to its head, in
 * two parts at most. The pipe holds, or has room for, at least `n` bytes.
 */
static bool copy_out(const struct pipe *p, const struct space *s, uint64_t to, uint32_t n)
{
	uint32_t first = (uint32_t)least(n, PIPE_BYTES - ring_slot(p->tail, PIPE_BYTES));

	return copy_to_user(s, to, byte_at(p, p->tail), first) &&
	       copy_to_user(s, to + first, byte_at(p, p->tail + first), n - first);
}

static bool copy_in(const struct pipe *p, const struct space *s, uint64_t from, uint32_t n)
{
	uint32_t first = (uint32_t)least(n, PIPE_BYTES - ring_slot(p->head, PIPE_BYTES));

	return copy_from_user(s, byte_at(p, p->head), from, first) &&
	       copy_from_user(s, byte_at(p, p->head + first), from + first, n - first);
}

/*
 * Waits until `p` changes, unless the caller's process was interrupted, perhaps while this call let
 * interrupts in. Returns 0, the error of process_interrupted(), or minus EAGAIN.
 */
static long await_change(struct pipe *p, enum pipe_end end)
{
	long error = process_interrupted(process_current());

	if (!error && p->nonblocking[end])
		return -EAGAIN;
	if (!error)
		wait_on(&p->changed);
	return error;
}

/* Waits. Returns 0 when the pipe holds bytes or has no open end for writing; else an error. */
static long wait_for_bytes(struct pipe *p)
{
	long error;

	while (!held(p) && p->ends[PIPE_WRITE]) {
		error = await_change(p, PIPE_READ);
		if (error)
			return error;
		if (!p->ends[PIPE_READ])
			/* another thread of the process has closed the descriptor */
			return -EBADF;
	}
	return 0;
}

static long take(struct pipe *p, const struct space *s, uint64_t to, uint64_t n)
{
	long error = wait_for_bytes(p);
	uint32_t part = (uint32_t)least(held(p), n);

	if (error)
		return error;
	if (!copy_out(p, s, to, part))
		return -EFAULT;
	p->tail += part;
	wake(p);
	return part;
}

long pipe_read(int pipe, const struct space *s, uint64_t to, uint64_t n)
{
	struct pipe *p = &pipes[pipe];
	long answer;

	if (!n)
		return 0;
	p->calls++;
	answer = take(p, s, to, n);
	p->calls--;
	drop(p);
	return answer;
}

/* Returns 0 when there is room for `need` bytes, or an error. */
static long wait_for_room(struct pipe *p, uint64_t need)
{
	long error;

	while (p->ends[PIPE_READ] && PIPE_BYTES - held(p) < need) {
		error = await_change(p, PIPE_WRITE);
		if (error)
			return error;
		if (!p->ends[PIPE_WRITE])
			return -EBADF;
	}
	return p->ends[PIPE_READ] ? 0 : -EPIPE;
}

static long put(struct pipe *p, const struct space *s, uint64_t from, uint64_t n)
{
	uint64_t done = 0, part;
	long error;

	while (done < n && !process_current()->ending) {
		error = wait_for_room(p, n <= PIPE_BUF ? n : 1);
		if (error)
			return done && error != -EPIPE ? (long)done : error;
		part = least(least(n - done, PIPE_BUF), PIPE_BYTES - held(p));
		if (!copy_in(p, s, from + done, (uint32_t)part))
			return done ? (long)done : -EFAULT;
		p->head += (uint32_t)part;
		done += part;
		wake(p);
		let_interrupts_in();
	}
	return (long)done;
}

long pipe_write(int pipe, const struct space *s, uint64_t from, uint64_t n)
{
	struct pipe *p = &pipes[pipe];
	long answer;

	p->calls++;
	answer = put(p, s, from, n);
	p->calls--;
	drop(p);
	return answer;
}

void pipe_set_blocking(int pipe, enum pipe_end end, bool blocking)
{
	pipes[pipe].nonblocking[end] = !blocking;
}

bool pipe_blocking(int pipe, enum pipe_end end)
{
	return !pipes[pipe].nonblocking[end];
}

int pipe_ready(int pipe, enum pipe_end end)
{
	const struct pipe *p = &pipes[pipe];

	if (end == PIPE_READ)
		return (held(p) ? POLLIN : 0) | (p->ends[PIPE_WRITE] ? 0 : POLLHUP);
	if (!p->ends[PIPE_READ])
		return POLLERR | POLLOUT;
	return PIPE_BYTES - held(p) >= PIPE_BUF ? POLLOUT : 0;
}
