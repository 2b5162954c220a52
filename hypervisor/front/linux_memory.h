/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_LINUX_MEMORY_H
#define QV_LINUX_MEMORY_H

#include "tables/nested.h"

/*
 * Sets the access that Linux has to whole pages [@pa, +@len) of RAM or of a device. From enable to
 * disable, each such change goes through this function. It cannot fail, since front_prepare() of
 * the same range came before (law 9). The change takes effect for a CPU of Linux with that CPU's
 * flush: flush_front_end().
 */
void linux_memory(u64 pa, u64 len, enum linux_access access);

#endif
