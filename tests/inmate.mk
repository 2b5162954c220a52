# SPDX-License-Identifier: GPL-2.0-only
# Rules for an inmate for tests, which is not installed. Set NAME (the folder under $(O)), ELF and
# SRC before the include.
TOP := $(abspath $(dir $(abspath $(lastword $(MAKEFILE_LIST))))/..)
O ?= $(TOP)/build
OUT := $(O)/$(NAME)

.DEFAULT_GOAL := all
include $(TOP)/inmates/inmate.mk

OBJ := $(addprefix $(OUT)/,$(addsuffix .o,$(SRC)))

.PHONY: all clean
all: $(OUT)/$(ELF)

$(OUT)/%.c.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(INMATE_CFLAGS) -I$(TOP)/hypervisor -Wno-unused-parameter -MMD -MP -c -o $@ $<

$(OUT)/%.S.o: %.S
	@mkdir -p $(@D)
	$(call say,AS)$(CC) $(INMATE_ASFLAGS) -MMD -MP -c -o $@ $<

$(OUT)/$(ELF): $(OBJ) $(INMATE_LIB) $(INMATE_LDS)
	$(call say,LD)$(INMATE_LINK)

clean:
	rm -rf $(OUT)

-include $(OBJ:.o=.d)
