// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/ring.h>
#include "../kernel/dispatch.h"
#include "../kernel/pollqueue.h"
#include "input.h"

#define BREAK_KEY	3		/* ^C */

static uint8_t queue[INPUT_LENGTH];
static uint32_t head, tail;
static struct wait_queue readers;
static void (*on_break)(void);

const struct wait_queue *input_readers(void)
{
	return &readers;
}

size_t input_room(void)
{
	return INPUT_LENGTH - (head - tail);
}

void input_put(uint8_t byte)
{
	bool irqs = irq_save();

	if (byte == BREAK_KEY && on_break) {
		on_break();
	} else if (input_room()) {
		queue[ring_slot(head++, INPUT_LENGTH)] = byte;
	} else if (byte == BREAK_KEY) {
		/* the queue is full: ^C replaces the last key, since it must always end the line */
		queue[ring_slot(head - 1, INPUT_LENGTH)] = byte;
	}
	irq_restore(irqs);
}

void input_wake(void)
{
	bool irqs = irq_save();

	wake_many(&readers);
	poll_wake();
	irq_restore(irqs);
}

int input_try(void)
{
	return head == tail ? -1 : queue[ring_slot(tail++, INPUT_LENGTH)];
}

bool input_ready(void)
{
	return head != tail;
}

void input_wait(void)
{
	if (head == tail)
		wait_on(&readers);
}

int input_get_until(uint64_t at)
{
	bool irqs = irq_save();
	int byte = input_try();

	if (byte < 0) {
		(void)wait_on_until(&readers, at);
		byte = input_try();
	}
	irq_restore(irqs);
	return byte;
}

void input_poke(void)
{
	bool irqs = irq_save();
	struct thread *t, *next;

	for (t = readers.head; t; t = next) {
		next = t->next_waiting;
		if (!t->process)
			wake_thread(t);
	}
	irq_restore(irqs);
	dispatch_preempt();
}

bool input_drop_break(void)
{
	uint32_t at;

	for (at = tail; at != head; at++) {
		if (queue[ring_slot(at, INPUT_LENGTH)] != BREAK_KEY)
			continue;
		tail = at + 1;
		return true;
	}
	return false;
}

void input_set_break(void (*act)(void))
{
	on_break = act;
}
