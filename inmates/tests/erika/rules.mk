# SPDX-License-Identifier: GPL-2.0-only
# The conformance suite: a program for each library of the kernel, with sanitizers.
SUITE := $(HERE)/erika
ERIKA := $(TOP)/inmates/erika
SUITE_SRC := $(addprefix $(SUITE)/,hostport.c ops.c suite.c world.c)
SUITE_ASM := $(ERIKA)/kernel/stacks.S $(TOP)/inmates/lib/cpu/switch.S
SUITE_KERNEL := $(filter-out %/ready_single.c %/ready_multi.c,$(wildcard $(ERIKA)/kernel/*.c))
# The kernel's constant tables are variables of world.c, which each case fills.
SUITE_TABLES := task_conf num_tasks top_level level_task level_queue resource_conf num_resources \
	counter_conf num_counters timer_level alarm_conf num_alarms table_conf num_tables isr_conf \
	num_isrs isr2_level message_conf num_messages com_error_hook com_extension num_com_modes \
	hooks num_modes isr_stack
SUITE_FLAGS := $(UNIT_FLAGS) -fno-builtin -I$(ERIKA)/include \
	$(foreach t,$(SUITE_TABLES),-Wl,--defsym=os_$(t)=w_$(t)) -no-pie
SUITES := $(foreach q,single multi,$(foreach s,standard extended,$(OUT)/erika-$(q)-$(s)))

SUITE_NEEDS := $(SUITE_SRC) $(SUITE_ASM) $(wildcard $(ERIKA)/kernel/*) \
	$(wildcard $(ERIKA)/include/*/*) $(SUITE)/suite.h $(SUITE)/rules.mk

$(OUT)/erika-%: $(SUITE_NEEDS)
	@mkdir -p $(@D)
	$(CC) $(SUITE_FLAGS) -DOS_EXTENDED=$(if $(findstring extended,$*),1,0) \
		-DSUITE_FOLDER='"$(SUITE)"' -DSUITE_SINGLE=$(if $(findstring single,$*),1,0) -o $@ $(SUITE_SRC) $(SUITE_ASM) \
		$(SUITE_KERNEL) $(ERIKA)/kernel/ready_$(firstword $(subst -, ,$*)).c
