// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <erika/conf.h>
#include "os_config.h"

void OS_TASK_ENTRY(Main)(void);
void OS_TASK_ENTRY(High)(void);
void OS_TASK_ENTRY(Deep)(void);
void OS_ISR_ENTRY(Low)(void);
void OS_ISR_ENTRY(Mid)(void);
void OS_ISR_ENTRY(One)(void);

OS_STACK(stack_Main, 8192);
OS_STACK(stack_High, 8192);
OS_STACK(stack_Deep, 4096);
OS_STACK(stack_isr, 8192);

#define TASK_ROW(task, number) \
	.name = #task, .entry = OS_TASK_ENTRY(task), .level = number, .run_level = number, \
	.activations = 1, .stack = OS_STACK_ROW(stack_##task)

const struct os_task_conf os_task_conf[] = {
	[Main] = { TASK_ROW(Main, 1), .autostart = 1u << OSDEFAULTAPPMODE },
	[High] = { TASK_ROW(High, 3) },
	[Deep] = { TASK_ROW(Deep, 2), .autostart = 1u << Overrun },
};
struct os_task os_tasks[3];
const uint32_t os_num_tasks = 3;
const uint8_t os_top_level = 3;
const TaskType os_level_task[] = { Main, Deep, High };

const struct os_resource_conf os_resource_conf[] = {
	[0] = { .name = "RES_SCHEDULER", .ceiling = 3 },
	[Shared] = { .name = "Shared", .ceiling = OS_ISR_LEVEL(3) },
};
struct os_resource os_resources[2];
const uint32_t os_num_resources = 2;

const struct os_counter_conf os_counter_conf[] = {
	[Millisecond] = { .name = "Millisecond", .base = { 65535, 1, 1 }, .tick_ns = 1000000,
			  .driver = &os_systimer },
};
struct os_counter os_counters[1];
const uint32_t os_num_counters = 1;

const struct os_alarm_conf os_alarm_conf[] = {
	[Later] = { .name = "Later", .counter = Millisecond,
		    .action = { .act = os_act_activate, .id = High } },
};
struct os_alarm os_alarms[1];
const uint32_t os_num_alarms = 1;

const struct os_isr_conf os_isr_conf[] = {
	[Low] = { .name = "Low", .entry = OS_ISR_ENTRY(Low), .category = 2, .vector = 0x31,
		  .level = OS_ISR_LEVEL(3), .ack = OS_ACK_AFTER, .id = Low },
	[Mid] = { .name = "Mid", .entry = OS_ISR_ENTRY(Mid), .category = 2, .vector = 0x52,
		  .level = OS_ISR_LEVEL(5), .ack = OS_ACK_BEFORE, .id = Mid },
	[One] = { .name = "One", .entry = OS_ISR_ENTRY(One), .category = 1, .vector = 0xC1,
		  .level = OS_ISR_LEVEL(12), .id = One },
};
const uint32_t os_num_isrs = 3;
const struct os_isr_conf os_timer_isr = {
	.entry = os_systimer_expire, .level = OS_ISR_LEVEL(4), .id = INVALID_ISR,
};
const uint8_t os_isr2_level = OS_ISR_LEVEL(5);

const struct os_hooks os_hooks = { NULL };
const uint32_t os_num_modes = 2;
const struct os_stack os_isr_stack = OS_STACK_ROW(stack_isr);
os_part *const os_parts[] = { os_start_counters, os_start_alarms, NULL };
