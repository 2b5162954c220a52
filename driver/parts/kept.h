/* SPDX-License-Identifier: GPL-2.0-only */
/* CPUs that are kept ready for cells. Call each function with qv_lock held. */
#ifndef QV_PARTS_KEPT_H
#define QV_PARTS_KEPT_H

#include <linux/types.h>

struct qv_pool_cpus;

bool qv_cpu_kept(u32 linux_cpu);
bool qv_kept_any(void);
/* Keeps the CPUs of @p, and no others. After a refusal they are as before */
int qv_kept_set(struct qv_pool_cpus *p);
void qv_kept_show(struct qv_pool_cpus *p);
/* Gives all of them to Linux. No cell has any */
void qv_kept_drop(void);

#endif
