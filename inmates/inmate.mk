# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Flags and rules for the code of an inmate. Set TOP (the tree) and O (the build folder) before the
# include.

include $(TOP)/scripts/quiet.mk

CC ?= gcc
AR ?= ar
OBJCOPY ?= objcopy

INMATE_CFLAGS := -std=gnu11 -O2 -g -Wall -Wextra -Werror -Wstrict-prototypes -Wmissing-prototypes \
	-Wvla -Wundef -ffreestanding -fno-pic -fno-stack-protector -fcf-protection=none \
	-fno-asynchronous-unwind-tables -fno-strict-aliasing -fno-common -ffunction-sections \
	-m64 -mno-red-zone -mgeneral-regs-only -mcmodel=small \
	-ffile-prefix-map=$(TOP)=. -ffile-prefix-map=$(O)=build \
	-I$(TOP)/include -I$(TOP)/inmates/lib/include
INMATE_ASFLAGS := -m64 -g -Wa,--fatal-warnings -I$(TOP)/inmates/lib/include -ffile-prefix-map=$(TOP)=. -ffile-prefix-map=$(O)=build
INMATE_LDFLAGS := -nostdlib -static -no-pie -Wl,--build-id=none -Wl,-z,noexecstack \
	-Wl,-z,max-page-size=0x1000 -Wl,--gc-sections -Wl,--fatal-warnings

# $(call inmate_objects,FOLDER): objects of the sources named in SRC, kept under FOLDER of the build.
inmate_objects = $(addprefix $(O)/inmates/$(1)/,$(addsuffix .o,$(SRC)))

$(O)/inmates/%.c.o: $(TOP)/inmates/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(INMATE_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/inmates/%.S.o: $(TOP)/inmates/%.S
	@mkdir -p $(@D)
	$(call say,AS)$(CC) $(INMATE_ASFLAGS) -MMD -MP -c -o $@ $<
