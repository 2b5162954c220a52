// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stddef.h>
#include <erika/conf.h>
#include "os_config.h"

void OS_TASK_ENTRY(Toggle)(void);
void OS_TASK_ENTRY(Lamp)(void);

OS_STACK(stack_Toggle, 4096);
OS_STACK(stack_Lamp, 8192);
OS_STACK(stack_isr, 8192);

const struct os_task_conf os_task_conf[] = {
	[Toggle] = {
		.name = "Toggle", .entry = OS_TASK_ENTRY(Toggle), .level = 1, .run_level = 1,
		.activations = 1, .stack = OS_STACK_ROW(stack_Toggle),
	},
	[Lamp] = {
		.name = "Lamp", .entry = OS_TASK_ENTRY(Lamp), .level = 2, .run_level = 2,
		.activations = 1, .extended = true, .autostart = 1u << OSDEFAULTAPPMODE,
		.stack = OS_STACK_ROW(stack_Lamp),
	},
};
struct os_task os_tasks[2];
const uint32_t os_num_tasks = 2;
const uint8_t os_top_level = 2;
const TaskType os_level_task[] = { Toggle, Lamp };

const struct os_resource_conf os_resource_conf[] = {
	[0] = { .name = "RES_SCHEDULER", .ceiling = 2 },
	[State] = { .name = "State", .ceiling = 2 },
};
struct os_resource os_resources[2];
const uint32_t os_num_resources = 2;

const struct os_counter_conf os_counter_conf[] = {
	[SystemTimer] = {
		.name = "SystemTimer", .base = { OSMAXALLOWEDVALUE_SystemTimer, 1, 1 },
		.tick_ns = 1000000,
	},
};
struct os_counter os_counters[1];
const uint32_t os_num_counters = 1;
const uint8_t os_timer_level = OS_ISR_LEVEL(3);

const struct os_alarm_conf os_alarm_conf[] = {
	[Half] = {
		.name = "Half", .counter = SystemTimer,
		.action = { .act = os_act_activate, .id = Toggle },
		.modes = 1u << OSDEFAULTAPPMODE, .start = OS_START_RELATIVE,
		.time = 500, .cycle = 500,
	},
};
struct os_alarm os_alarms[1];
const uint32_t os_num_alarms = 1;

const struct os_isr_conf os_isr_conf[1];
const uint32_t os_num_isrs;
const uint8_t os_isr2_level = OS_ISR_LEVEL(3);

const struct os_hooks os_hooks = { NULL };
const uint32_t os_num_modes = 1;
const struct os_stack os_isr_stack = OS_STACK_ROW(stack_isr);
os_part *const os_parts[] = { os_start_counters, os_start_alarms, NULL };
