# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# For a Makefile of programs for Quest, in any folder:
#
#	include $(shell pkg-config --variable=makefragment qv-quest)
#	demo.cpio: quest/hello quest/pipeline data.bin
#
# quest/NAME is made from NAME.c and its other prerequisites, NAME.cpio from its prerequisites. Your
# Makefile may set CFLAGS.

ifndef QUEST_SDK
QUEST_SDK := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
endif

# Only headers of Quest and of the compiler are found. The address in program.lds is beyond 2 GiB,
# hence -fpie.
QUEST_CFLAGS := --sysroot=$(QUEST_SDK) -D__QUEST__ -m64 -msse2 -mno-avx -ffreestanding -fpie \
	-fno-stack-protector -fcf-protection=none -fno-asynchronous-unwind-tables \
	-ffunction-sections -fdata-sections
QUEST_LDFLAGS := -nostdlib -static -no-pie -Wl,--build-id=none -Wl,-z,noexecstack \
	-Wl,-z,max-page-size=0x1000 -Wl,--gc-sections -Wl,--no-relax \
	-Wl,-T,$(QUEST_SDK)/program.lds
QUEST_LIBS := $(QUEST_SDK)/crt0.o $(QUEST_SDK)/libquest.a -lgcc
QUEST_PACK := $(QUEST_SDK)/pack.py
CFLAGS ?= -O2 -g -Wall -Wextra

quest/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(QUEST_CFLAGS) -MMD -MP -c -o $@ $<

quest/%: quest/%.o
	$(CC) $(QUEST_LDFLAGS) -o $@ $^ $(QUEST_LIBS)

%.cpio:
	$(QUEST_PACK) $@ $^

.PRECIOUS: quest/%.o
# The first rule of the .d files is no goal: your Makefile's first rule is.
QUEST_GOAL := $(.DEFAULT_GOAL)
-include $(wildcard quest/*.d)
.DEFAULT_GOAL := $(QUEST_GOAL)
