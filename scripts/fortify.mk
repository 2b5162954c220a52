# SPDX-License-Identifier: GPL-2.0-only
# FORTIFY: the flag for the checks of glibc at run time, after CPPFLAGS and CFLAGS are set. A level
# that they have from the environment is kept.
FORTIFY := $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),, \
	-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
