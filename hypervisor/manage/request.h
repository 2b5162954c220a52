/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef QV_REQUEST_H
#define QV_REQUEST_H

#include "core/instance.h"
#include "tables/nested.h"

/* Checks the front end's inst->req, copied from Linux once. Returns 0 or enum qv_mon_error */
u64 request_check(const struct instance *inst, u32 caller);
/*
 * Makes the front end's tables for a request that is valid. Returns 0 or QV_ME_TABLES. Has no
 * effect that a guest can notice.
 */
u64 request_prepare(const struct instance *inst, u32 caller);

/* Number of 2 MiB pages in all runs */
static inline u64 request_pages(const struct qv_mon_create *q)
{
	u64 pages = 0;
	u32 i;

	for (i = 0; i < q->num_runs; i++)
		pages += q->runs[i].count;
	return pages;
}

/* True if a console page of a cell is in [pa, +len). It cannot be another cell's memory, too */
bool request_has_console(const struct instance *inst, u64 pa, u64 len);
/* pages.c: true if [pa, +len) is aligned RAM of the front end. @level 1: 4 KiB, 2: 2 MiB pages */
bool request_pages_ok(const struct instance *inst, u64 pa, u64 len, u32 level);
/* Returns true if [pa, +len) is such RAM, in pages of 2 MiB, and without a console page */
bool request_takable(const struct instance *inst, u64 pa, u64 len);

#endif
