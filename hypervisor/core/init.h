/* SPDX-License-Identifier: GPL-2.0-only */
/* Permission maps and the parking page of an instance. */
#ifndef QV_INIT_H
#define QV_INIT_H

#include "instance.h"

/*
 * Fills the permission maps and the parking page of @inst. Its creator calls it and has its block
 * mapped at @va. Returns 0 or enum qv_mon_error.
 */
u64 guest_init(struct instance *inst, u64 va);

#endif
