# SPDX-License-Identifier: GPL-2.0-only
# The kernel's constant tables are variables of world.c, which each case fills.
SUITE_TABLES := task_conf num_tasks top_level level_task level_queue resource_conf num_resources \
	counter_conf num_counters timer_isr alarm_conf num_alarms table_conf num_tables isr_conf \
	num_isrs isr2_level message_conf num_messages com_error_hook com_extension num_com_modes \
	com_extended hooks num_modes isr_stack
SUITE_DEFSYMS := $(foreach t,$(SUITE_TABLES),-Wl,--defsym=os_$(t)=w_$(t))
