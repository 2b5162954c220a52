# SPDX-License-Identifier: GPL-2.0-only
# make prints a line for each file that it makes; with V=1 the commands; with -s nothing.
# Usage: $(call say,CC)command...
MAKEFLAGS += --no-print-directory
ifeq ($(V),1)
say =
else ifneq ($(findstring s,$(firstword -$(MAKEFLAGS))),)
say = @
else
say = @printf '  %-7s %s\n' $(1) $(@:$(O)/%=%);
endif
