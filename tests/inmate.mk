# SPDX-License-Identifier: GPL-2.0-only
# Rules for an inmate for tests, which is not installed. Set NAME (the folder under $(O)), ELF and
# SRC before the include.
TOP := $(abspath $(dir $(abspath $(lastword $(MAKEFILE_LIST))))/..)
O ?= $(TOP)/build
OUT := $(O)/$(NAME)

.DEFAULT_GOAL := all
include $(TOP)/inmates/inmate.mk

OBJ := $(addprefix $(OUT)/,$(addsuffix .o,$(SRC)))
LIB := $(O)/inmates/lib/libinmate.a
LDS := $(TOP)/inmates/lib/inmate.lds

.PHONY: all clean lib
all: $(OUT)/$(ELF)

lib:
	@$(MAKE) -C $(TOP)/inmates/lib O=$(O) all
$(LIB): lib ;

$(OUT)/%.c.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(INMATE_CFLAGS) -I$(TOP)/hypervisor -Wno-unused-parameter -MMD -MP -c -o $@ $<

$(OUT)/%.S.o: %.S
	@mkdir -p $(@D)
	$(call say,AS)$(CC) $(INMATE_ASFLAGS) -MMD -MP -c -o $@ $<

$(OUT)/$(ELF): $(OBJ) $(LIB) $(LDS)
	$(call say,LD)$(CC) $(INMATE_LDFLAGS) -T $(LDS) -o $@ $(OBJ) -Wl,--whole-archive $(LIB) -Wl,--no-whole-archive -lgcc

clean:
	rm -rf $(OUT)

-include $(OBJ:.o=.d)
