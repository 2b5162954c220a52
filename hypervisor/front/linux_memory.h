/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_LINUX_MEMORY_H
#define QV_LINUX_MEMORY_H

#include "tables/nested.h"

/*
 * Every change of what Linux may do with memory, from enable to disable, goes through here. Whole
 * pages [@pa, +@len), of RAM or a device, after front_prepare() of the same range: so it cannot
 * fail. It counts for a CPU of Linux once that CPU has been flushed: flush_front_end().
 */
void linux_memory(u64 pa, u64 len, enum linux_access access);

#endif
