// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pool: memory that is taken from Linux early, for cells that are created later. Months after
 * boot Linux may have enough free memory, but not in pieces of 2 MiB. Cells take their pages from
 * the pool first. When a cell goes, its pages refill the pool.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include "abi/layout.h"
#include "qv.h"
#include "parts/pool.h"

#define POOL_ORDER	get_order(QV_HUGE)
#define POOL_MIB(pages)	((u64)(pages) * QV_HUGE >> 20)

static unsigned int pool;
module_param(pool, uint, 0444);
MODULE_PARM_DESC(pool, "MiB of memory to keep for cells from loading on");

/*
 * Pages are alike, so lent pages are only counted: while .num_free + .lent is below .wanted, the
 * pool keeps the next page that any cell gives back.
 */
static struct {
	u32 wanted;			/* size of the pool, in pages */
	u32 num_free;			/* number of pages in .pages, which has room for .wanted */
	u32 lent;			/* number of the pool's pages that cells have */
	struct page **pages;
} qv_pool;

int qv_pool_by_address(const void *a, const void *b)
{
	unsigned long x = page_to_pfn(*(struct page **)a), y = page_to_pfn(*(struct page **)b);

	return x < y ? -1 : x > y;
}

static void pool_free_pages(struct page **pages, u32 num)
{
	while (num)
		__free_pages(pages[--num], POOL_ORDER);
}

/* Takes @num pages from Linux, or none */
static int pool_alloc_pages(struct qv_reply *r, struct page **pages, u32 num)
{
	u32 i;

	for (i = 0; i < num; i++) {
		pages[i] = fatal_signal_pending(current) ? NULL :
			alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN | __GFP_RETRY_MAYFAIL,
				    POOL_ORDER);
		if (!pages[i]) {
			pool_free_pages(pages, i);
			return qv_refuse(r, QV_E_NO_MEMORY, "take the pool earlier after boot",
					 "Linux could free %llu of %llu MiB in pieces of 2 MiB",
					 POOL_MIB(i), POOL_MIB(num));
		}
		cond_resched();
	}
	return 0;
}

static int pool_check(struct qv_reply *r, u64 bytes)
{
	u64 have = (u64)(qv_pool.num_free + qv_pool.lent) * QV_HUGE;

	if (bytes % QV_HUGE)
		return qv_refuse(r, QV_E_ARGUMENT, "give a multiple of 2 MiB",
				 "the size of the pool is malformed");
	if (bytes / PAGE_SIZE > totalram_pages())
		return qv_refuse(r, QV_E_NO_MEMORY, "make the pool smaller",
				 "the pool is to have %llu MiB, the machine has %lu MiB",
				 bytes >> 20, totalram_pages() >> (20 - PAGE_SHIFT));
	if (bytes > have && (bytes - have) / PAGE_SIZE > si_mem_available())
		return qv_refuse(r, QV_E_NO_MEMORY, "end programs, or make the pool smaller",
				 "the pool needs %llu MiB more, Linux can do without %ld MiB",
				 (bytes - have) >> 20, si_mem_available() >> (20 - PAGE_SHIFT));
	return 0;
}

int qv_pool_set(struct qv_reply *r, u64 bytes)
{
	u32 wanted, have, more, keep;
	struct page **pages = NULL;
	int error = pool_check(r, bytes);

	if (error)
		return error;
	wanted = bytes / QV_HUGE;
	have = qv_pool.num_free + qv_pool.lent;
	more = wanted > have ? wanted - have : 0;
	keep = min(qv_pool.num_free, wanted > qv_pool.lent ? wanted - qv_pool.lent : 0);
	if (wanted)
		pages = kvcalloc(wanted, sizeof(*pages), GFP_KERNEL);
	if (wanted && !pages)
		return qv_refuse(r, QV_E_NO_MEMORY, "make the pool smaller",
				 "no memory for the list of %u pages", wanted);
	error = pool_alloc_pages(r, pages + keep, more);
	if (error) {
		kvfree(pages);
		return error;
	}
	/* nothing below can fail */
	if (keep)
		memcpy(pages, qv_pool.pages, keep * sizeof(*pages));
	pool_free_pages(qv_pool.pages + keep, qv_pool.num_free - keep);
	kvfree(qv_pool.pages);
	qv_pool.pages = pages;
	qv_pool.num_free = keep + more;
	if (wanted != qv_pool.wanted)
		qv_log("driver", "the pool has %llu MiB for cells", POOL_MIB(wanted));
	qv_pool.wanted = wanted;
	return 0;
}

void qv_pool_load(void)
{
	struct qv_reply r = { 0 };

	if (!pool || !qv_pool_set(&r, (u64)pool << 20))
		return;
	pr_warn("qv: there is no pool: %s\n", r.text);
	qv_log("driver", "there is no pool: %s", r.text);
}

void qv_pool_show(struct qv_pool *p)
{
	p->size = (u64)qv_pool.wanted * QV_HUGE;
	p->free = qv_pool_free_bytes();
	p->lent = (u64)qv_pool.lent * QV_HUGE;
}

unsigned long qv_pool_free_bytes(void)
{
	return (unsigned long)qv_pool.num_free * QV_HUGE;
}

static bool pool_gap_before(u32 i)
{
	return page_to_pfn(qv_pool.pages[i]) !=
	       page_to_pfn(qv_pool.pages[i - 1]) + (QV_HUGE >> PAGE_SHIFT);
}

/* Returns the first of @num successive pages with the fewest gaps. Call with sorted pages */
static u32 pool_find(u32 num)
{
	u32 i, gaps = 0, fewest, best = 0;

	for (i = 1; i < num; i++)
		gaps += pool_gap_before(i);
	fewest = gaps;
	for (i = num; i < qv_pool.num_free && fewest; i++) {
		if (num > 1)
			gaps += pool_gap_before(i) - pool_gap_before(i - num + 1);
		if (gaps < fewest) {
			fewest = gaps;
			best = i - num + 1;
		}
	}
	return best;
}

u32 qv_pool_take(struct page **pages, u32 num)
{
	u32 first;

	num = min(num, qv_pool.num_free);
	if (!num)
		return 0;
	sort(qv_pool.pages, qv_pool.num_free, sizeof(*pages), qv_pool_by_address, NULL);
	first = pool_find(num);
	memcpy(pages, qv_pool.pages + first, num * sizeof(*pages));
	qv_pool.num_free -= num;
	qv_pool.lent += num;
	memmove(qv_pool.pages + first, qv_pool.pages + first + num,
		(qv_pool.num_free - first) * sizeof(*pages));
	return num;
}

void qv_pool_give(struct page *page)
{
	if (qv_pool.lent)
		qv_pool.lent--;
	if (qv_pool.num_free + qv_pool.lent >= qv_pool.wanted) {
		__free_pages(page, POOL_ORDER);
		return;
	}
	/* An image may have been loaded into the page for a cell that the monitor never had */
	memset(page_address(page), 0, QV_HUGE);
	qv_pool.pages[qv_pool.num_free++] = page;
}

void qv_pool_drop(void)
{
	pool_free_pages(qv_pool.pages, qv_pool.num_free);
	kvfree(qv_pool.pages);
	memset(&qv_pool, 0, sizeof(qv_pool));
}
