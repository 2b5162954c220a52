/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_PARTS_CPUS_H
#define QV_PARTS_CPUS_H

#include <linux/types.h>

struct qv_cell;

bool qv_cpu_in_cell(u32 linux_cpu);		/* callable without qv_lock */
/*
 * Gives all CPUs of @cell to Linux, except lost CPUs. Returns a CPU that Linux refused to bring
 * online, or -1.
 */
int qv_cpus_give(struct qv_cell *cell);

#endif
