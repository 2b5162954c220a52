# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# For the Makefile of an application, in any folder:
#
#	OIL := pump.oil
#	SRC := pump.c
#	include $(shell pkg-config --variable=makefragment qv-erika)
#
# makes pump.elf, which a cell boots, and pump32.elf, which QEMU boots alone (make run). The names
# come from OIL. Your Makefile may set CFLAGS, OUT (the folder for generated files and objects) and
# OILFLAGS (options of qvoil). SRC may be absent if the OIL file has APP_SRC.

ERIKA_SDK := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
include $(ERIKA_SDK)/erika-flags.mk

OUT ?= out
CC ?= gcc
OBJCOPY ?= objcopy
CFLAGS ?= -O2 -g -Wall -Wextra
QVOIL ?= $(ERIKA_SDK)/../../../bin/qvoil
QEMU ?= qemu-system-x86_64
ERIKA_IMAGE := $(basename $(OIL))
# os_config.mk sets ERIKA_FLOATS.
ERIKA_COMPILE = $(CC) $(CFLAGS) $(filter-out $(if $(ERIKA_FLOATS),-mgeneral-regs-only),\
	$(ERIKA_CFLAGS)) -I$(ERIKA_SDK)/include -I. -I$(OUT)

# $(call erika_need,COMMAND,PACKAGE)
erika_need = $(if $(shell command -v $(firstword $(1))),,$(error $(firstword $(1)) is not \
	installed: apt install $(2)))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.PHONY: all run clean
all: $(ERIKA_IMAGE).elf $(ERIKA_IMAGE)32.elf

# make reads this file, so it makes it first, and then reads all again.
$(OUT)/os_config.mk: $(OIL)
	@:$(call erika_need,$(CC),gcc)$(call erika_need,$(OBJCOPY),binutils)
	@mkdir -p $(OUT)
	$(QVOIL) build $(OIL) -o $(OUT) --compiler '$(ERIKA_COMPILE)' $(SRC:%=--source %) \
		$(OILFLAGS) >$(OUT)/generated.list
	@touch $@
$(OUT)/os_config.c: $(OUT)/os_config.mk ;
ifneq ($(MAKECMDGOALS),clean)
# An empty old file, so that make does not add an error about this line to those of qvoil.
$(if $(wildcard $(OUT)/os_config.mk),,$(shell mkdir -p $(OUT) && touch -d @0 $(OUT)/os_config.mk))
include $(OUT)/os_config.mk
endif
-include $(wildcard $(OUT)/*.d)

ERIKA_OBJ := $(patsubst %.c,$(OUT)/%.o,$(sort $(SRC) $(ERIKA_APP_SRC))) $(OUT)/os_config.o
ERIKA_LIBS = $(ERIKA_SDK)/liberika-tools.a $(ERIKA_SDK)/liberika-$(ERIKA_LIBRARY).a

$(OUT)/%.o: %.c $(OUT)/os_config.mk
	@mkdir -p $(@D)
	$(ERIKA_COMPILE) $(ERIKA_APP_CFLAGS) -MMD -MP -c -o $@ $<
$(OUT)/os_config.o: $(OUT)/os_config.c
	$(ERIKA_COMPILE) $(ERIKA_APP_CFLAGS) -MMD -MP -c -o $@ $<

# With debug information, for gdb (source out/os_config.gdb). If the application and the libraries
# have a symbol of one name, such as timer_init, that of the application gets another name.
ERIKA_RENAMED := $(OUT)/renamed.txt
ERIKA_OWN := $(OUT)/$(ERIKA_IMAGE).own.o
$(OUT)/$(ERIKA_IMAGE).debug.elf: $(ERIKA_OBJ)
	@$(QVOIL) link-check $(OIL) $(filter-out $(OUT)/os_config.o,$^) --renamed $(ERIKA_RENAMED) \
		--library $(ERIKA_SDK)/symbols.txt $(OILFLAGS)
	@if [ -s $(ERIKA_RENAMED) ]; then $(CC) -m64 -r -nostdlib -o $(ERIKA_OWN) $^ && \
		$(OBJCOPY) --redefine-syms=$(ERIKA_RENAMED) $(ERIKA_OWN); fi
	$(CC) $(ERIKA_LDFLAGS) -T $(ERIKA_SDK)/inmate.lds -o $@ $(ERIKA_SDK)/port/*.o \
		$$([ -s $(ERIKA_RENAMED) ] && echo $(ERIKA_OWN) || echo $^) $(ERIKA_LIBS) -Wl,--whole-archive $(ERIKA_SDK)/libinmate.a \
		-Wl,--no-whole-archive -lgcc
$(ERIKA_IMAGE).elf: $(OUT)/$(ERIKA_IMAGE).debug.elf
	$(OBJCOPY) --strip-debug $< $@
$(ERIKA_IMAGE)32.elf: $(ERIKA_IMAGE).elf
	$(OBJCOPY) -O elf32-i386 $< $@

# Ctrl-A X ends it.
run: $(ERIKA_IMAGE)32.elf
	@:$(call erika_need,$(QEMU),qemu-system-x86)
	$(QEMU) -nographic -no-reboot -cpu max -kernel $<

clean:
	rm -rf $(OUT) $(ERIKA_IMAGE).elf $(ERIKA_IMAGE)32.elf
