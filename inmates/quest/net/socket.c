// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <inmate/cpu.h>
#include <inmate/ring.h>
#include "../drivers/net/nic.h"
#include "../kernel/process/process.h"
#include "../kernel/wait.h"
#include "../mm/pages.h"
#include "../mm/usercopy.h"
#include "../user/include/quest/errors.h"
#include "table.h"

#define MEMORY_PAGES	((SOCKETS_MAX * sizeof(struct socket_memory) + PAGE_SIZE - 1) / PAGE_SIZE)

static struct socket sockets[SOCKETS_MAX];
static struct socket_memory *memory;	/* of all sockets */
static bool up;				/* there is a network */
static unsigned int num_calls;
/* All calls wait here, so the I/O VCPU of `net` inherits the shortest period of their VCPUs. */
static struct wait_queue waiters;

struct socket *socket_at(unsigned int n)
{
	return &sockets[n];
}

const struct wait_queue *socket_waiters(void)
{
	return &waiters;
}

int socket_create(void)
{
	int n;

	if (!up)
		return -ENETDOWN;
	for (n = 0; n < SOCKETS_MAX && sockets[n].used; n++)
		;
	if (n == SOCKETS_MAX)
		return -EMFILE;
	sockets[n] = (struct socket){ .used = true, .memory = &memory[n], .opens = 1 };
	return n;
}

void socket_open(int socket)
{
	sockets[socket].opens++;
}

void socket_close(int socket)
{
	if (--sockets[socket].opens)
		return;
	wake_all(&waiters);
	nic_poke();
}

/* Begins a call. Returns 0, or -EAGAIN: too many wait. */
static int begin(struct socket *s)
{
	if (num_calls == SOCKET_CALLS)
		return -EAGAIN;
	num_calls++;
	s->calls++;
	return 0;
}

static void end(struct socket *s)
{
	num_calls--;
	s->calls--;
	if (!s->calls && !s->opens)
		nic_poke();	/* the thread `net` frees it */
}

/* Waits until something has changed. Returns 0, or why the call must end. */
static long wait(const struct socket *s)
{
	long error;

	wait_on(&waiters);
	error = process_interrupted(process_current());
	return error ? error : s->opens ? 0 : -EBADF;
}

/* Waits for the turn of this call to make a request. Returns 0 or an error. */
static long wait_for_turn(const struct socket *s)
{
	long error = 0;

	while (!error && s->request != REQUEST_NONE)
		error = wait(s);
	return error;
}

/* Makes the request, and waits for its answer. */
static long ask(struct socket *s, enum socket_request request, const struct quest_address *address)
{
	long error = 0;

	s->address = *address;
	s->given_up = false;
	s->request = request;
	nic_poke();
	while (!error && s->request != REQUEST_DONE)
		error = wait(s);
	if (s->request != REQUEST_DONE) {
		s->given_up = true;
		return error;
	}
	s->request = REQUEST_NONE;
	wake_all(&waiters);
	return s->answer;
}

int socket_bind(int socket, const struct quest_address *to)
{
	struct socket *s = &sockets[socket];
	long error = begin(s);

	if (error)
		return (int)error;
	error = wait_for_turn(s);
	if (!error)
		error = ask(s, REQUEST_BIND, to);
	end(s);
	return (int)error;
}

static long send(struct socket *s, const struct space *space, uint64_t data, uint32_t n,
		 const struct quest_address *to)
{
	long error = wait_for_turn(s);

	if (error)
		return error;
	s->memory->sent.length = n;
	if (!copy_from_user(space, s->memory->sent.data, data, n))
		return -EFAULT;
	error = ask(s, REQUEST_SEND, to);
	return error ? error : n;
}

long socket_send(int socket, const struct space *s, uint64_t data, uint64_t n,
		 const struct quest_address *to)
{
	long answer;

	if (n > QUEST_DATAGRAM)
		return -EMSGSIZE;
	answer = begin(&sockets[socket]);
	if (answer)
		return answer;
	answer = send(&sockets[socket], s, data, (uint32_t)n, to);
	end(&sockets[socket]);
	return answer;
}

static long receive(struct socket *s, const struct space *space, uint64_t data, uint64_t n,
		    struct quest_address *from)
{
	const struct datagram *d;
	long error = 0;

	while (!error && s->head == s->tail)
		error = wait(s);
	if (error)
		return error;
	d = &s->memory->received[ring_slot(s->tail, SOCKET_QUEUE)];
	if (n > d->length)
		n = d->length;
	if (!copy_to_user(space, data, d->data, n))
		return -EFAULT;
	*from = d->address;
	s->tail++;
	return (long)n;
}

long socket_receive(int socket, const struct space *s, uint64_t data, uint64_t n,
		    struct quest_address *from)
{
	long answer = begin(&sockets[socket]);

	if (answer)
		return answer;
	answer = receive(&sockets[socket], s, data, n, from);
	end(&sockets[socket]);
	return answer;
}

/* ---- the thread net ---- */

bool sockets_init(void)
{
	memory = (struct socket_memory *)(uintptr_t)pages_alloc(MEMORY_PAGES);
	return memory;
}

void sockets_begin(void)
{
	up = true;
}

void socket_received(struct socket *s)
{
	barrier();
	s->head++;
	wake_all(&waiters);
}

void socket_answer(struct socket *s, long answer)
{
	bool irqs = irq_save();

	s->answer = answer;
	s->request = s->given_up ? REQUEST_NONE : REQUEST_DONE;
	wake_all(&waiters);
	irq_restore(irqs);
}

void socket_free(struct socket *s)
{
	s->used = false;
}
