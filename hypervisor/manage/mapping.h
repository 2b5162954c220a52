/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The manager's two mappings of 2 MiB: the only way in which one instance maps memory of another,
 * and only during a call.
 */
#ifndef QV_MAPPING_H
#define QV_MAPPING_H

#include "core/instance.h"

/* Maps @pa at @va (QV_VA_MANAGE, QV_VA_SCRUB); @pa 0 removes the mapping */
void mapping_set(u64 va, u64 pa);
void scrub(u64 pa);			/* clears 2 MiB */

/* The instance whose block is mapped at QV_VA_MANAGE */
static inline struct instance *managed(void)
{
	return (struct instance *)(QV_VA_MANAGE + QV_OFF_INSTANCE);
}

static inline struct qv_mon_status *managed_status(void)
{
	return (struct qv_mon_status *)(QV_VA_MANAGE + QV_OFF_STATUS);
}

/* The tables of the managed cell, as the manager reaches them. @pool: room for their pool */
struct paging cell_paging(const struct paging *of, struct pt_pool *pool);

#endif
