# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Rules for the kernel's libraries and for images with it. Include it after inmate.mk.
#
# liberika-QUEUE-STATUS.a: QUEUE is single (BCC1, ECC1: one task of each priority, one activation)
# or multi (BCC2, ECC2); STATUS is standard or extended. Those whose names end in -trace.a write a
# trace. liberika-tools.a: the parts of the port that an application chooses.

ERIKA := $(TOP)/inmates/erika
ERIKA_OUT := $(O)/inmates/erika
ERIKA_QUEUES := single multi
ERIKA_STATUSES := standard extended
ERIKA_VARIANTS := $(foreach q,$(ERIKA_QUEUES),$(foreach s,$(ERIKA_STATUSES),$(q)-$(s)))

ERIKA_SRC := action.c adjust.c alarm.c com.c core.c counter.c error.c event.c filter.c \
	interrupts.c isr.c release.c resource.c shutdown.c stack.c start.c state.c systimer.c \
	table.c tablesync.c task.c
ERIKA_CFLAGS := $(INMATE_CFLAGS) -Os -fdata-sections -I$(ERIKA)/include
ERIKA_TOOLS := $(ERIKA_OUT)/liberika-tools.a
ERIKA_LIBS := $(foreach v,$(ERIKA_VARIANTS),\
	$(ERIKA_OUT)/liberika-$(v).a $(ERIKA_OUT)/liberika-$(v)-trace.a)

# $(call erika_library,VARIANT,SOURCES,TRACE): the rules of one library
define erika_library
ERIKA_OBJ_$(1) := $$(addprefix $$(ERIKA_OUT)/$(1)/,$$(addsuffix .o,$(2)))
$$(ERIKA_OUT)/$(1)/%.c.o: $$(ERIKA)/kernel/%.c
	@mkdir -p $$(@D)
	$$(call say,CC)$$(CC) $$(ERIKA_CFLAGS) -DOS_TRACE=$(3) \
		-DOS_EXTENDED=$(if $(findstring extended,$(1)),1,0) -MMD -MP -c -o $$@ $$<
$$(ERIKA_OUT)/liberika-$(1).a: $$(ERIKA_OBJ_$(1)) $$(ERIKA_OUT)/kernel/stacks.S.o
	@rm -f $$@
	$$(call say,AR)$$(AR) rcsD $$@ $$^
-include $$(ERIKA_OBJ_$(1):.o=.d)
endef
erika_sources = $(ERIKA_SRC) ready_$(firstword $(subst -, ,$(1))).c
$(foreach v,$(ERIKA_VARIANTS),\
	$(eval $(call erika_library,$(v),$(call erika_sources,$(v)),0))\
	$(eval $(call erika_library,$(v)-trace,$(call erika_sources,$(v)) trace.c,1)))

ERIKA_PORT := $(addprefix $(ERIKA_OUT)/port/,\
	boot.c.o channel.c.o device.c.o entry.c.o fault.c.o floats.c.o guard.c.o hwclock.c.o \
	key.c.o x86.c.o)
ERIKA_TOOLS_OBJ := $(addprefix $(ERIKA_OUT)/port/,floatswitch.c.o latency.c.o shell.c.o \
	tracelines.c.o)
$(ERIKA_PORT) $(ERIKA_TOOLS_OBJ): INMATE_CFLAGS += -I$(ERIKA)/include -DOS_EXTENDED=0
-include $(ERIKA_PORT:.o=.d) $(ERIKA_TOOLS_OBJ:.o=.d)

$(ERIKA_TOOLS): $(ERIKA_TOOLS_OBJ)
	@rm -f $@
	$(call say,AR)$(AR) rcsD $@ $^

# Links the objects and the libraries among the prerequisites.
ERIKA_LINK = $(CC) $(INMATE_LDFLAGS) -T $(INMATE_LDS) -o $@ $(filter %.o,$^) \
	$(filter %.a,$(filter-out $(INMATE_LIB),$^)) \
	-Wl,--whole-archive $(INMATE_LIB) -Wl,--no-whole-archive -lgcc
