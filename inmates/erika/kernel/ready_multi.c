// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The ready queue for BCC2 and ECC2: a ring of activations for each level, in their order. */
#include "kernel.h"

uint64_t os_ready_levels;

void os_ready_put(TaskType id, uint8_t level)
{
	const struct os_level_queue *queue = &os_level_queue[level - 1];
	struct os_ring *ring = &os_level_ring[level - 1];
	uint32_t at = ring->head + ring->used++;

	queue->slots[at < queue->size ? at : at - queue->size] = id;
	os_ready_levels |= 1ull << (level - 1);
}

TaskType os_ready_take(void)
{
	uint8_t level = os_ready_top();
	const struct os_level_queue *queue = &os_level_queue[level - 1];
	struct os_ring *ring = &os_level_ring[level - 1];
	TaskType id = queue->slots[ring->head];

	if (++ring->head == queue->size)
		ring->head = 0;
	if (!--ring->used)
		os_ready_levels &= ~(1ull << (level - 1));
	return id;
}
