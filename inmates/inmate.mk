# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Included by the Makefile of each inmate: compile.mk, the library, the link command, image formats.
# Set TOP (the tree) and O (the build folder) before the include.

include $(TOP)/inmates/compile.mk

INMATE_LDFLAGS := -nostdlib -static -no-pie -Wl,--build-id=none -Wl,-z,noexecstack \
	-Wl,-z,max-page-size=0x1000 -Wl,--gc-sections -Wl,--fatal-warnings
INMATE_LDS := $(TOP)/inmates/lib/inmate.lds

# Links the objects among the prerequisites with the library. INMATE_LIB and INMATE_LDS must be
# prerequisites, too.
INMATE_LINK = $(CC) $(INMATE_LDFLAGS) -T $(INMATE_LDS) -o $@ $(filter %.o,$^) \
	-Wl,--whole-archive $(INMATE_LIB) -Wl,--no-whole-archive -lgcc

.PHONY: lib
lib:
	@$(MAKE) -C $(TOP)/inmates/lib O=$(O) all
$(INMATE_LIB): lib ;

# NAME.debug.elf has debug information, for gdb; NAME.elf is the image that a cell boots.
$(O)/inmates/%.elf: $(O)/inmates/%.debug.elf
	$(call say,OBJCOPY)$(OBJCOPY) --strip-debug $< $@

# The same as 32-bit ELF, for loaders that support Multiboot 1 only (qemu -kernel)
$(O)/inmates/%32.elf: $(O)/inmates/%.elf
	$(call say,OBJCOPY)$(OBJCOPY) -O elf32-i386 $< $@
