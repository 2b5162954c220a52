// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <inmate/cpu.h>
#include <inmate/timer.h>
#include "../drivers/net/nic.h"
#include "../kernel/clock.h"
#include "../kernel/pollqueue.h"
#include "../kernel/process/process.h"
#include "../kernel/wait.h"
#include "../mm/pages.h"
#include "../user/include/quest/errors.h"
#include "table.h"

#define MEMORY_PAGES	((SOCKETS_MAX * sizeof(union socket_memory) + PAGE_SIZE - 1) / PAGE_SIZE)

static struct socket sockets[SOCKETS_MAX];
static union socket_memory *memory;	/* of all sockets */
static bool up, starts;			/* there is a network; it is not known yet */
static int callers[SOCKET_CALLS];	/* the jobs of the calls in progress; 0: unused */

struct socket *socket_at(unsigned int n)
{
	return &sockets[n];
}

/* All calls wait here, so the I/O VCPU of `net` inherits the shortest period of their VCPUs. */
static struct wait_queue *waiters(void)
{
	return poll_queue(true);
}

const struct wait_queue *socket_waiters(void)
{
	return waiters();
}

static unsigned int count_of(int job)
{
	unsigned int n, count = 0;

	for (n = 0; n < SOCKETS_MAX; n++)
		count += sockets[n].used && sockets[n].opens && sockets[n].job == job;
	return count;
}

unsigned int sockets_used(void)
{
	unsigned int n, count = 0;

	for (n = 0; n < SOCKETS_MAX; n++)
		count += sockets[n].used;
	return count;
}

/* Returns a new socket of job `job`, or NULL. */
static struct socket *create(bool stream, int job)
{
	unsigned int n;

	for (n = 0; n < SOCKETS_MAX && sockets[n].used; n++)
		;
	if (n == SOCKETS_MAX || count_of(job) >= SOCKETS_OF_ONE)
		return NULL;
	sockets[n] = (struct socket){ .used = true, .stream = stream, .job = job, .opens = 1,
				      .memory = &memory[n] };
	return &sockets[n];
}

/* The function's reset takes milliseconds, and programs that start at boot do not fail for it. */
static int await_start(void)
{
	int error = starts ? socket_begin_wait() : 0;

	if (error || !starts)
		return error;
	while (starts && !error) {
		wait_on_until(waiters(), UINT64_MAX);
		error = (int)process_interrupted(process_current());
	}
	socket_end_wait();
	return error;
}

int socket_create(int type, int job)
{
	const struct socket *s;
	int error;

	if (type != SOCK_STREAM && type != SOCK_DGRAM)
		return -ENOTSUP;
	error = await_start();
	if (error)
		return error;
	if (!up)
		return -ENETDOWN;
	s = create(type == SOCK_STREAM, job);
	return s ? (int)(s - sockets) : -EMFILE;
}

void socket_open(int socket)
{
	sockets[socket].opens++;
}

void socket_close(int socket)
{
	struct socket *s = &sockets[socket];

	if (--s->opens)
		return;
	s->closed_at = rdtsc();
	wake_all(waiters());
	nic_poke();
}

/* ---- calls ---- */

int socket_begin_wait(void)
{
	int job = process_current()->job, *unused = NULL;
	unsigned int n, count = 0;

	for (n = 0; n < SOCKET_CALLS; n++) {
		if (!callers[n])
			unused = &callers[n];
		count += callers[n] == job;
	}
	if (!unused || count >= SOCKET_CALLS_OF_ONE)
		return -EAGAIN;
	*unused = job;
	return 0;
}

void socket_end_wait(void)
{
	unsigned int n;

	for (n = 0; callers[n] != process_current()->job; n++)
		;
	callers[n] = 0;
}

int socket_begin(struct socket *s)
{
	int error = socket_begin_wait();

	if (!error)
		s->calls++;
	return error;
}

void socket_end(struct socket *s)
{
	socket_end_wait();
	s->calls--;
	if (!s->calls && !s->opens)
		nic_poke();	/* the thread `net` frees it */
}

uint64_t socket_until(const struct socket *s, uint64_t flags, uint64_t us)
{
	if (s->nonblocking || flags & MSG_DONTWAIT)
		return 0;
	return clock_wait_end(us ? rdtsc() + timer_from_us(us) : UINT64_MAX);
}

long socket_wait(const struct socket *s, uint64_t until)
{
	bool in_time = until && wait_on_until(waiters(), until);
	long error = process_interrupted(process_current());

	return error ? error : !s->opens ? -EBADF : in_time ? 0 : -EAGAIN;
}

long socket_await_turn(const struct socket *s)
{
	long error = 0;

	while (!error && s->request != REQUEST_NONE)
		error = socket_wait(s, UINT64_MAX);
	return error;
}

long socket_ask(struct socket *s, enum socket_request request, const struct quest_address *address)
{
	long error = 0;

	s->address = *address;
	s->given_up = false;
	s->request = request;
	nic_poke();
	while (!error && s->request != REQUEST_DONE)
		error = socket_wait(s, UINT64_MAX);
	if (s->request != REQUEST_DONE) {
		s->given_up = true;
		return error;
	}
	s->request = REQUEST_NONE;
	wake_all(waiters());
	return s->answer;
}

int socket_request(struct socket *s, enum socket_request what, const struct quest_address *address)
{
	long error = socket_begin(s);

	if (error)
		return (int)error;
	error = socket_await_turn(s);
	if (!error)
		error = socket_ask(s, what, address);
	socket_end(s);
	return (int)error;
}

long socket_take_error(struct socket *s)
{
	int error = s->error;

	s->error = 0;
	return -error;
}

/* ---- the thread net ---- */

bool sockets_init(void)
{
	memory = (union socket_memory *)(uintptr_t)pages_alloc(MEMORY_PAGES);
	starts = memory;
	return memory;
}

void sockets_begin(bool there)
{
	up = there;
	starts = false;
	wake_all(waiters());
}

void socket_changed(void)
{
	barrier();
	wake_all(waiters());
}

void socket_answer(struct socket *s, long answer)
{
	bool irqs = irq_save();

	s->answer = answer;
	s->request = s->given_up ? REQUEST_NONE : REQUEST_DONE;
	wake_all(waiters());
	irq_restore(irqs);
}

void socket_free(struct socket *s)
{
	s->used = false;
}

struct socket *socket_queue(const struct socket *listener)
{
	bool irqs = irq_save(), room = listener->queue_head - listener->queue_tail < SOMAXCONN;
	struct socket *s = room && listener->opens ? create(true, listener->job) : NULL;

	if (s) {
		s->queued = true;
		s->reuse = listener->reuse;
		s->no_delay = listener->no_delay;
		s->keep_alive = listener->keep_alive;
		s->receive_us = listener->receive_us;
		s->send_us = listener->send_us;
	}
	irq_restore(irqs);
	return s;
}

void socket_queued(struct socket *listener, struct socket *s)
{
	listener->queue[ring_slot(listener->queue_head, SOMAXCONN)] = (uint8_t)(s - sockets);
	barrier();
	listener->queue_head++;
	socket_changed();
}
