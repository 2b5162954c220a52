# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Flags and rules to compile the code of inmates and of their library. Set TOP (the tree) and O (the
# build folder) before the include.

include $(TOP)/scripts/quiet.mk

CC ?= gcc
AR ?= ar
OBJCOPY ?= objcopy

# Debug information names no folder of the machine that builds.
INMATE_PREFIX_MAP := -ffile-prefix-map=$(TOP)=. -ffile-prefix-map=$(O)=build
INMATE_CFLAGS := -std=gnu11 -O2 -g -Wall -Wextra -Werror -Wstrict-prototypes -Wmissing-prototypes \
	-Wvla -Wundef -ffreestanding -fno-pic -fno-stack-protector -fcf-protection=none \
	-fno-asynchronous-unwind-tables -fno-strict-aliasing -fno-common -ffunction-sections \
	-m64 -mno-red-zone -mgeneral-regs-only -mcmodel=small $(INMATE_PREFIX_MAP) \
	-I$(TOP)/include -I$(TOP)/inmates/lib/include
INMATE_ASFLAGS := -m64 -g -Wa,--fatal-warnings -I$(TOP)/inmates/lib/include $(INMATE_PREFIX_MAP)

# $(call inmate_objects,FOLDER): the objects of the sources in SRC, in FOLDER of the build.
inmate_objects = $(addprefix $(O)/inmates/$(1)/,$(addsuffix .o,$(SRC)))

INMATE_LIB_SRC := boot/stack.S boot/start.S boot/multiboot.c \
	cell/bell.c \
	cell/cell.c \
	cell/key.c \
	cell/latency.c \
	console/console.c console/screen.c \
	cpu/apic.c cpu/desc.c cpu/dump.c cpu/switch.S cpu/timer.c cpu/trap.c cpu/trap_entry.S \
	pci/pci.c pci/search.c \
	pc/ioapic.c pc/pic.c pc/pit.c pc/ps2.c pc/serial.c pc/vga.c \
	util/printf.c util/string.c
# The ends of channels, which Linux programs use, too
INMATE_CHANNEL := $(notdir $(wildcard $(TOP)/lib/channel/*.c))
INMATE_LIB_OBJ := $(patsubst %,$(O)/inmates/lib/%.o,$(INMATE_LIB_SRC)) \
	$(patsubst %,$(O)/inmates/channel/%.o,$(INMATE_CHANNEL))
INMATE_LIB := $(O)/inmates/lib/libinmate.a

$(O)/inmates/channel/%.c.o: $(TOP)/lib/channel/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(INMATE_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/inmates/%.c.o: $(TOP)/inmates/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(INMATE_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/inmates/%.S.o: $(TOP)/inmates/%.S
	@mkdir -p $(@D)
	$(call say,AS)$(CC) $(INMATE_ASFLAGS) -MMD -MP -c -o $@ $<
