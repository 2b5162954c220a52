# SPDX-License-Identifier: GPL-2.0-only
#
# make             builds everything; the module for the kernel whose headers are in KDIR
# make deps        gets by apt what building and the lab need on this machine
# make demo        shows the system at work in an emulated machine
# make shell       gives a root shell in that machine (demo, shell, bench: MACHINE=intel for VT-x)
# make quest       runs Quest alone in an emulated machine, in this terminal (FILES=: an archive)
# make check       the gate: the same tests for every commit, in 20 minutes of two cores
# make lint        English, subjects of commits, types of Python (seconds)
# make check-all   every test on every kind of machine, long proofs and fuzzing, all kernels
#                  (hours; PART=1/10 to 10/10: a tenth; LIST=1: names its tests)
# make prove       proofs of the pure parts (P=icr: that proof)
# make attack      the hostile cells and the hostile Linux of tests/attack
# make fuzz        the fuzzers, SECONDS=60 each (TARGET=icr: that target)
# make bench       the numbers, in repeatable time
# make evaluation  the experiments of the Quest-V papers, with figures, in repeatable time (hours;
#                  SHARE=0.05: fewer observations; ONLY=: that experiment; SEED=)
# make size        the monitor's size against its limits
# make doc         the documents as a book (build/doc/html) and as manual pages (build/doc/man)
# make deb         Debian packages in build/deb, checked by lintian
# make help        prints these lines
# make install     the programs and the module, for modprobe to find (DESTDIR=: into that folder)
# make uninstall   removes what make install put there
#
# O= is the build folder, KDIR= the kernel headers, DESTDIR= where to install.

include scripts/quiet.mk
O    ?= $(CURDIR)/build
KDIR ?= /lib/modules/$(shell uname -r)/build

# Folders whose Makefiles have the targets all, install and clean, in build order.
PROGRAMS := hypervisor inmates tools lib
# The module contains the monitor's image. It is built separately for each kernel.
KVER    = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h 2>/dev/null)
DRIVER  = $(MAKE) -C driver O=$(O) KO=$(O)/kernel/$(KVER) KDIR=$(KDIR)

LAB = tests/lab/qvlab
MACHINE ?= amd

.DELETE_ON_ERROR:
.PHONY: all programs module driver install install-programs install-driver uninstall clean \
	size deps doc deb demo shell quest check check-all lint attack prove bench evaluation \
	headers help

# Without headers nothing is compiled before that is said.
all: headers programs module

help:
	@sed -n '3,/^$$/s/^# \{0,1\}//p' Makefile

define each
	@set -e; umask 022; for d in $(PROGRAMS); do $(MAKE) -C $$d O=$(O) $(1); done
endef

programs:
	$(call each,all)

module: programs
	@$(MAKE) driver

# Builds only the module, in the tree of another suite. That tree has only the suite's headers.
driver: headers
	@$(DRIVER) all

headers:
	@test -n "$(KVER)" || { echo "no kernel headers in $(KDIR):" \
		"install linux-headers-amd64, or name others with KDIR=" >&2; exit 1; }

# Every user may read what is installed, whatever the umask of root's shell.
install: all install-programs install-driver
	@scripts/uninstall --list "$(DESTDIR)" "$(KVER)" $(MAKE) install-programs O=$(O)

install-programs:
	$(call each,DESTDIR=$(DESTDIR) install)
	@umask 022; $(MAKE) -C Documentation O=$(O) DESTDIR=$(DESTDIR) install

install-driver: headers
	@umask 022; $(DRIVER) DESTDIR=$(DESTDIR) install

uninstall:
	@scripts/uninstall "$(DESTDIR)"
	@$(if $(DESTDIR),:,journalctl --update-catalog || :)

clean:
	rm -rf $(O)

size:
	@$(MAKE) -C hypervisor O=$(O) all
	@scripts/size hypervisor $(O)/hypervisor/qv-amd.elf $(O)/hypervisor/qv-intel.elf
	@scripts/circles --sources hypervisor monitor $(O)/hypervisor

deps:
	scripts/deps
	@$(LAB) sources

doc: deps
	$(LAB) make -C Documentation all DOC=$(O)/doc
	@echo "the book: $(O)/doc/html/index.html; a manual page: man -l $(O)/doc/man/qvctl.8"

deb: deps
	$(LAB) deb

demo: deps
	$(LAB) setup
	tests/lab/demo --machine $(MACHINE)

shell: deps
	$(LAB) shell --machine $(MACHINE)

quest: deps
	$(LAB) quest $(if $(FILES),--files $(FILES))

check: deps
	$(LAB) check

lint: deps
	$(LAB) lint

check-all: deps
	$(LAB) check-all $(if $(PART),--part $(PART)) $(if $(LIST),--list)

prove: deps
	$(MAKE) -C tests/prove O=$(O) all P='$(P)'

attack: deps
	$(LAB) setup --machine intel
	$(LAB) test tests/attack -n auto --dist loadgroup -q

fuzz: deps
	$(LAB) make -C tests/fuzz fuzz SECONDS='$(or $(SECONDS),60)' TARGET='$(TARGET)'

bench: deps
	tests/lab/bench --machine $(MACHINE)

evaluation: deps
	tests/evaluation/evaluate $(ONLY) $(if $(SEED),--seed $(SEED)) \
		$(if $(SHARE),--share $(SHARE))
