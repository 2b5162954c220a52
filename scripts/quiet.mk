# SPDX-License-Identifier: GPL-2.0-only
# What make says: a line for each file that it makes. V=1: the commands; -s: nothing.
# Before a command: $(call say,CC)command...
MAKEFLAGS += --no-print-directory
ifeq ($(V),1)
say =
else ifneq ($(findstring s,$(firstword -$(MAKEFLAGS))),)
say = @
else
say = @printf '  %-7s %s\n' $(1) $(@:$(O)/%=%);
endif
