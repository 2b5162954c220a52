# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Rules for the kernel's libraries and for images with it. Include it after inmate.mk.
#
# liberika-QUEUE-STATUS.a: QUEUE is single (BCC1, ECC1: one task of each priority, one activation)
# or multi (BCC2, ECC2); STATUS is standard or extended.

ERIKA := $(TOP)/inmates/erika
ERIKA_OUT := $(O)/inmates/erika
ERIKA_QUEUES := single multi
ERIKA_STATUSES := standard extended

ERIKA_SRC := action.c adjust.c alarm.c com.c core.c counter.c error.c event.c filter.c \
	interrupts.c isr.c release.c resource.c shutdown.c stack.c start.c state.c systimer.c \
	table.c tablesync.c task.c
ERIKA_CFLAGS := $(INMATE_CFLAGS) -Os -fdata-sections -I$(ERIKA)/include
ERIKA_LIBS := $(foreach q,$(ERIKA_QUEUES),\
	$(foreach s,$(ERIKA_STATUSES),$(ERIKA_OUT)/liberika-$(q)-$(s).a))

# $(call erika_library,QUEUE,STATUS): the rules of one library
define erika_library
ERIKA_OBJ_$(1)_$(2) := $$(addprefix $$(ERIKA_OUT)/$(1)-$(2)/,\
	$$(addsuffix .o,$$(ERIKA_SRC) ready_$(1).c))
$$(ERIKA_OUT)/$(1)-$(2)/%.c.o: $$(ERIKA)/kernel/%.c
	@mkdir -p $$(@D)
	$$(call say,CC)$$(CC) $$(ERIKA_CFLAGS) -DOS_EXTENDED=$(if $(filter extended,$(2)),1,0) \
		-MMD -MP -c -o $$@ $$<
$$(ERIKA_OUT)/liberika-$(1)-$(2).a: $$(ERIKA_OBJ_$(1)_$(2)) $$(ERIKA_OUT)/kernel/stacks.S.o
	@rm -f $$@
	$$(call say,AR)$$(AR) rcsD $$@ $$^
-include $$(ERIKA_OBJ_$(1)_$(2):.o=.d)
endef
$(foreach q,$(ERIKA_QUEUES),$(foreach s,$(ERIKA_STATUSES),$(eval $(call erika_library,$(q),$(s)))))

ERIKA_PORT := $(addprefix $(ERIKA_OUT)/port/,\
	boot.c.o channel.c.o entry.c.o fault.c.o guard.c.o hwclock.c.o x86.c.o)
$(ERIKA_PORT): INMATE_CFLAGS += -I$(ERIKA)/include -DOS_EXTENDED=0
-include $(ERIKA_PORT:.o=.d)

# Links the objects and the libraries among the prerequisites.
ERIKA_LINK = $(CC) $(INMATE_LDFLAGS) -T $(INMATE_LDS) -o $@ $(filter %.o,$^) \
	$(filter %.a,$(filter-out $(INMATE_LIB),$^)) \
	-Wl,--whole-archive $(INMATE_LIB) -Wl,--no-whole-archive -lgcc
