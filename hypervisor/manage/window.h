/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The manager's windows of 2 MiB: the only way in which one instance maps memory of another, and
 * only during a call.
 */
#ifndef QV_WINDOW_H
#define QV_WINDOW_H

#include "core/instance.h"

/* Shows @pa at @va (QV_VA_MANAGE, QV_VA_SCRUB); @pa 0 closes the window */
void manage(u64 va, u64 pa);
void scrub(u64 pa);			/* clears 2 MiB */

/* The instance that QV_VA_MANAGE shows */
static inline struct instance *managed(void)
{
	return (struct instance *)(QV_VA_MANAGE + QV_OFF_INSTANCE);
}

static inline struct qv_mon_status *managed_status(void)
{
	return (struct qv_mon_status *)(QV_VA_MANAGE + QV_OFF_STATUS);
}

#endif
