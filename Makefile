# SPDX-License-Identifier: GPL-2.0-only
#
# make             everything, the module for the kernel whose headers KDIR names
# make deps        what building and the lab need on this machine, by apt
# make demo        the system at work in an emulated machine
# make shell       a root shell in that machine
# make check       every test
# make bench       the numbers, in repeatable time
# make size        the monitor's size against its limits
# make install     into DESTDIR
#
# O= is the build folder, KDIR= the kernel headers, DESTDIR= where to install.

O    ?= $(CURDIR)/build
KDIR ?= /lib/modules/$(shell uname -r)/build

# Folders built by make, in order; each knows all, install and clean.
PROGRAMS := hypervisor inmates/quest tools
# The module is built once for each kernel, so each has a folder of its own.
KVER = $(shell cat $(KDIR)/include/config/kernel.release 2>/dev/null)
MODULE_O = $(O)/kernel/$(KVER)

SHARE = $(DESTDIR)/usr/share/qv
LAB   = tests/lab/qvlab

.DELETE_ON_ERROR:
.PHONY: all programs module install install-programs install-module clean size deps demo shell check bench

all: programs module

# While parts are still being written a folder may be missing.
define each
	@set -e; for d in $(1); do \
		if [ -f $$d/Makefile ]; then $(MAKE) -C $$d O=$(O) $(2); \
		else echo "$$d: not there yet, left out"; fi; done
endef

programs:
	$(call each,$(PROGRAMS),all)

module: kdir
	$(call each,driver,O=$(MODULE_O) KDIR=$(KDIR) all)

.PHONY: kdir
kdir:
	@test -n "$(KVER)" || { echo "no kernel headers in $(KDIR):" \
		"install linux-headers-amd64, or name others with KDIR=" >&2; exit 1; }

install: install-programs install-module

install-programs: programs
	$(call each,$(PROGRAMS),DESTDIR=$(DESTDIR) install)
	@if [ -d configs ]; then install -d $(SHARE)/configs && install -m 644 configs/*.yaml $(SHARE)/configs; fi

install-module: module
	$(call each,driver,O=$(MODULE_O) KDIR=$(KDIR) DESTDIR=$(DESTDIR) install)

clean:
	rm -rf $(O)

size: programs
	scripts/size hypervisor $(O)/hypervisor/qv-amd.elf

deps:
	scripts/deps

demo: deps
	$(LAB) setup
	tests/lab/demo

shell: deps
	$(LAB) shell

check: deps
	scripts/check

bench: deps
	tests/lab/bench
