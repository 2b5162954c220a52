// SPDX-License-Identifier: GPL-2.0-only
#include <inmate/cpu.h>
#include <inmate/ring.h>
#include "../kernel/thread.h"
#include "input.h"

static uint8_t queue[INPUT_LENGTH];
static uint32_t head, tail;
static struct wait_queue readers;

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

	if (input_room()) {
		queue[ring_slot(head++, INPUT_LENGTH)] = byte;
		wake_all(&readers);
	}
	irq_restore(irqs);
}

uint8_t input_get(void)
{
	bool irqs = irq_save();
	uint8_t byte;

	while (head == tail)
		wait_on(&readers);
	byte = queue[ring_slot(tail++, INPUT_LENGTH)];
	irq_restore(irqs);
	return byte;
}
