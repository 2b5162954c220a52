// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/console.h>
#include <inmate/cpu.h>
#include "../drivers/net/apart.h"
#include "../drivers/net/nic.h"
#include "../user/include/quest/errors.h"
#include "../user/include/quest/types.h"
#include "process/heap.h"
#include "process/process.h"
#include "userdriver.h"

#define EVENTS		0x7FFFFFFFu	/* numbers of events are no errors */

static int component;			/* that may drive the function; 0: none */
static int owner = KERNEL_PID;		/* pid of the program that has the function */
static bool polled;
static struct wait_queue idle;		/* the driver waits for work */
static struct wait_queue opening;	/* and until the thread `net` has emptied the rings */
static bool opens;
static uint32_t events;
/* numbers at the last event: of interrupts, of frames put and taken */
static uint64_t interrupts;
static uint32_t put, taken;
static uint32_t announced;		/* received frames for which the thread `net` was poked */
static bool was_up;

void userdriver_allow(int number)
{
	component = number;
}

void userdriver_set_polled(bool now)
{
	polled = now;
}

/*
 * The causes of interrupts are forgotten only after an interrupt, since then the driver is woken:
 * those that come while it waits and interrupts are masked interrupt later.
 */
bool userdriver_begin(void)
{
	struct nic *n = nic_device();

	if (nic_interrupts() != interrupts)
		nic_acknowledge();
	if (opens) {
		apart_begin(n);
		put = taken = announced = 0;
		was_up = false;
		opens = false;
		wake_all(&opening);
	}
	return apart_started(n);
}

/*
 * An interrupt, a frame to be sent, or half of the driver's room is free again, which was perhaps
 * used up.
 */
static bool has_work(const struct nic *n)
{
	return nic_interrupts() != interrupts || n->tx_next != put ||
	       n->rx_next - taken >= QUEST_NIC_RECEIVED / 2;
}

static void end_driver(struct nic *n)
{
	struct process *p;

	print("net: the driver is ended: %s\n", n->wrong);
	n->wrong = NULL;
	irq_disable();
	p = process_find(owner);
	if (p)
		process_end(p, SIGABRT);
	irq_enable();
}

void userdriver_end(void)
{
	struct nic *n = nic_device();

	if (n->wrong)
		end_driver(n);
	if (n->lost || !has_work(n))
		return;
	interrupts = nic_interrupts();
	put = n->tx_next;
	taken = n->rx_next;
	events++;
	nic_wake(&idle);
}

static bool map(struct space *s, uint64_t *at, const void *memory, size_t bytes, uint64_t rights)
{
	size_t pages = (bytes + PAGE_SIZE - 1) / PAGE_SIZE;

	*at = space_find_foreign(s, pages);
	return *at && space_map_foreign(s, *at, (uintptr_t)memory, pages, rights);
}

/* The pages of a program that gets no function stay mapped until it ends. */
static bool map_all(struct process *p, struct quest_nic *to)
{
	const struct nic_parts parts = nic_parts();
	struct space *s = &p->space;

	to->registers_size = parts.registers_size;
	to->memory_size = parts.memory_size;
	to->bus = parts.memory;
	to->vendor = parts.vendor;
	to->device = parts.device;
	to->polled = nic_polled();
	return map(s, &to->registers, (void *)(uintptr_t)parts.registers, parts.registers_size,
		   USER_DATA | PTE_UNCACHED) &&
	       map(s, &to->memory, (void *)(uintptr_t)parts.memory, parts.memory_size, USER_DATA) &&
	       map(s, &to->out, &parts.area->out, sizeof(parts.area->out), USER_READ) &&
	       map(s, &to->in, &parts.area->in, sizeof(parts.area->in), USER_DATA);
}

/* The thread `net` could be using the rings of the program before this one: it empties them. */
static void await_rings(const struct process *p)
{
	opens = true;
	nic_poke();
	while (opens && !process_interrupted(p))
		wait_on(&opening);
}

static int hand_over(struct process *p, struct quest_nic *to)
{
	const char *wrong = nic_hand_over(polled);
	bool mapped;

	if (wrong) {
		irq_enable();
		print("net: %s\n", wrong);
		irq_disable();
		return -ENETDOWN;
	}
	if (!process_take_heap(p))
		return -EINTR;
	mapped = map_all(p, to);
	process_give_heap(p);
	if (!mapped)
		return -ENOMEM;
	await_rings(p);
	return process_interrupted(p) ? -EINTR : 0;
}

int userdriver_open(struct process *p, struct quest_nic *to)
{
	int error;

	if (!nic_is_apart())
		return -ENETDOWN;
	if (!component || p->component != component)
		return -EPERM;
	if (owner != KERNEL_PID)
		return -EBUSY;
	owner = p->pid;			/* from now on other threads of it are refused */
	nic_set_busy(true);
	*to = (struct quest_nic){ .registers = 0 };
	error = hand_over(p, to);
	if (error)
		userdriver_leave(p);
	return error;
}

/* The driver has changed a word that the thread `net` looks at. The thread checks them. */
static bool has_news(void)
{
	const volatile struct quest_nic_in *in = &nic_parts().area->in;
	bool up = in->started && in->link;
	uint32_t received = in->put;
	bool news = received != announced || up != was_up;

	announced = received;
	was_up = up;
	return news;
}

long userdriver_wait(const struct process *p, uint32_t seen, uint64_t until)
{
	if (p->pid != owner)
		return -EBADF;
	if (has_news())
		nic_poke();
	if ((events & EVENTS) == seen) {
		nic_set_busy(false);
		(void)wait_on_until(&idle, until);
		nic_set_busy(true);
		if (process_interrupted(p))
			return process_interrupted(p);
	}
	return events & EVENTS;
}

bool userdriver_used(const struct process *p)
{
	return p->pid == owner;
}

void userdriver_leave(const struct process *p)
{
	if (p->pid != owner)
		return;
	nic_device()->lost = true;
	nic_withdraw();
	owner = KERNEL_PID;
	opens = false;
	nic_poke();			/* the link is down */
}
