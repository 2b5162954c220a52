/* SPDX-License-Identifier: GPL-2.0-only */
/* The pool: pages of 2 MiB that QV keeps for cells. Call each function with qv_lock held. */
#ifndef QV_PARTS_POOL_H
#define QV_PARTS_POOL_H

#include <linux/types.h>

struct page;
struct qv_pool;
struct qv_reply;

/* Takes the pages that the module's parameter asks for. A failure is a warning in the log */
void qv_pool_load(void);
/* Changes the size of the pool. After a refusal it is as before */
int qv_pool_set(struct qv_reply *r, u64 bytes);
void qv_pool_show(struct qv_pool *p);
unsigned long qv_pool_free_bytes(void);
/* Moves at most @num pages to @pages, in as few pieces as possible. Returns how many */
u32 qv_pool_take(struct page **pages, u32 num);
/* Ends a cell's use of a page: it refills the pool, with zeros in it, or becomes Linux's again */
void qv_pool_give(struct page *page);
/* Gives all pages to Linux. No cell has any */
void qv_pool_drop(void);
/* For sort(): arrays of pages in ascending order of addresses */
int qv_pool_by_address(const void *a, const void *b);

#endif
