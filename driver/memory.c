// SPDX-License-Identifier: GPL-2.0-only
/* A cell's memory: 2 MiB pages from the buddy allocator, wherever they are. */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include "qv.h"

#define HUGE_ORDER	9
#define DEEP		24

static int by_address(const void *a, const void *b)
{
	unsigned long x = page_to_pfn(*(struct page **)a), y = page_to_pfn(*(struct page **)b);

	return x < y ? -1 : x > y;
}

int qv_memory_take(struct qv_memory *m, u32 num)
{
	m->pages = kvcalloc(num, sizeof(*m->pages), GFP_KERNEL);
	if (!m->pages)
		return -ENOMEM;
	for (m->num = 0; m->num < num; m->num++) {
		m->pages[m->num] = alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN |
					       __GFP_RETRY_MAYFAIL, HUGE_ORDER);
		if (!m->pages[m->num]) {
			qv_memory_give(m);
			return -ENOMEM;
		}
		cond_resched();
	}
	/* The monitor wants them ascending: so it sees at once that none is there twice */
	sort(m->pages, num, sizeof(*m->pages), by_address, NULL);
	return 0;
}

void qv_memory_give(struct qv_memory *m)
{
	while (m->num)
		__free_pages(m->pages[--m->num], HUGE_ORDER);
	kvfree(m->pages);
	m->pages = NULL;
}

static void *at(struct qv_memory *m, u64 gpa, u64 len, u64 *chunk)
{
	u64 offset = gpa % QV_HUGE;

	if (gpa / QV_HUGE >= m->num)
		return NULL;
	*chunk = min_t(u64, len, QV_HUGE - offset);
	return page_address(m->pages[gpa / QV_HUGE]) + offset;
}

bool qv_memory_write(struct qv_memory *m, u64 gpa, const void *from, u64 len)
{
	u64 chunk;

	for (; len; gpa += chunk, from += chunk, len -= chunk) {
		void *to = at(m, gpa, len, &chunk);

		if (!to)
			return false;
		memcpy(to, from, chunk);
		cond_resched();
	}
	return true;
}

bool qv_memory_zero(struct qv_memory *m, u64 gpa, u64 len)
{
	u64 chunk;

	for (; len; gpa += chunk, len -= chunk) {
		void *to = at(m, gpa, len, &chunk);

		if (!to)
			return false;
		memset(to, 0, chunk);
		cond_resched();
	}
	return true;
}

/*
 * What lies deep in the allocator's lists is used late by the Linux of the next boot: the
 * log in it has better chances to be found then.
 */
struct page *qv_memory_take_block(u32 order)
{
	struct page *tried[DEEP], *block = NULL;
	u32 n = 0;

	while (n < DEEP) {
		tried[n] = alloc_pages((n ? GFP_NOWAIT : GFP_KERNEL | __GFP_RETRY_MAYFAIL) | __GFP_NOWARN,
				       order);
		if (!tried[n])
			break;
		n++;
	}
	if (n)
		block = tried[--n];
	while (n)
		__free_pages(tried[--n], order);
	if (block)
		memset(page_address(block), 0, PAGE_SIZE << order);
	return block;
}
