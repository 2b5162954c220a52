# SPDX-License-Identifier: GPL-2.0-only
# The conformance suite: a program for each library of the kernel, with sanitizers.
SUITE := $(HERE)/erika
ERIKA := $(TOP)/inmates/erika
SUITE_SRC := $(addprefix $(SUITE)/,batch.c clock.c hostport.c hostrun.c ops.c suite.c world.c) \
	$(addprefix $(TOP)/inmates/lib/util/,decimal.c printf.c)
SUITE_ASM := $(ERIKA)/kernel/stacks.S $(TOP)/inmates/lib/cpu/switch.S
SUITE_KERNEL := $(filter-out %/ready_single.c %/ready_multi.c %/trace.c,\
	$(wildcard $(ERIKA)/kernel/*.c))
include $(SUITE)/tables.mk
SUITE_FLAGS := $(UNIT_FLAGS) -fno-builtin -I$(ERIKA)/include \
	$(SUITE_DEFSYMS) -no-pie
SUITES := $(foreach q,single multi,$(foreach s,standard extended,$(OUT)/erika-$(q)-$(s)))

SUITE_NEEDS := $(SUITE_SRC) $(SUITE_ASM) $(wildcard $(ERIKA)/kernel/*) \
	$(wildcard $(ERIKA)/include/*/*) $(SUITE)/suite.h $(SUITE)/rules.mk $(SUITE)/tables.mk

$(OUT)/erika-%: $(SUITE_NEEDS)
	@mkdir -p $(@D)
	$(CC) $(SUITE_FLAGS) -DOS_EXTENDED=$(if $(findstring extended,$*),1,0) \
		-DSUITE_FOLDER='"$(SUITE)"' -DSUITE_SINGLE=$(if $(findstring single,$*),1,0) -o $@ $(SUITE_SRC) $(SUITE_ASM) \
		$(SUITE_KERNEL) $(ERIKA)/kernel/ready_$(firstword $(subst -, ,$*)).c
