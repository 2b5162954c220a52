// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Stacks are painted at the start, so that the deepest use shows. */
#include <inmate/string.h>
#include "kernel.h"

#define PAINT	0x5A

static __attribute__((noinline)) void paint(const struct os_stack *stack)
{
	memset(stack->base, PAINT, stack->size);
}

static uint32_t unused(const struct os_stack *stack)
{
	uint32_t i = 0;

	while (i < stack->size && stack->base[i] == PAINT)
		i++;
	return i;
}

void os_stacks_paint(void)
{
	TaskType id;

	for (id = 0; id < os_num_tasks; id++)
		paint(&os_task_conf[id].stack);
	paint(&os_isr_stack);
}

uint32_t os_stack_unused(TaskType task)
{
	return task < os_num_tasks ? unused(&os_task_conf[task].stack) : 0;
}

uint32_t os_isr_stack_unused(void)
{
	return unused(&os_isr_stack);
}
