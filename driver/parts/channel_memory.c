// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of channels: pages of 2 MiB, which channels with the same ends share. While the
 * monitor has one of these channels, Linux can reach the parts of its own ends only. So no new
 * channel gets room in a page that another channel has left: a program may still map its memory.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "abi/layout.h"
#include "qv.h"
#include "cells.h"
#include "parts/channels.h"

#define HUGE_ORDER	get_order(QV_HUGE)

struct qv_hole {
	struct list_head list;
	struct page *pages;		/* 2 MiB */
	u32 used;			/* bytes from the beginning that are given to channels */
	u32 channels;			/* number of channels that have a part */
	bool closed;			/* a channel has left */
	bool lost;			/* the monitor did not give it back */
	struct qv_chan_page of;		/* a channel with the same ends */
};

static LIST_HEAD(holes);
static DEFINE_MUTEX(holes_lock);	/* protects the list, and the members of all holes */

static bool memory_has_end(const struct qv_chan_page *page, const char *name)
{
	u32 i;

	for (i = 0; i < page->ends; i++)
		if (!strncmp(page->end[i].name, name, QV_CHAN_NAME_LEN))
			return true;
	return false;
}

static bool memory_same_ends(const struct qv_chan_page *a, const struct qv_chan_page *b)
{
	u32 i;

	for (i = 0; i < a->ends; i++)
		if (!memory_has_end(b, a->end[i].name))
			return false;
	return a->ends == b->ends;
}

/* Returns a hole that no channel uses yet, or an error */
static struct qv_hole *memory_new_hole(void)
{
	struct qv_hole *h;
	u32 num = 0;

	list_for_each_entry(h, &holes, list)
		num++;
	if (num >= QV_MON_HOLES)
		return ERR_PTR(-ENOSPC);
	h = kzalloc(sizeof(*h), GFP_KERNEL);
	if (!h)
		return ERR_PTR(-ENOMEM);
	h->pages = alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN | __GFP_RETRY_MAYFAIL,
			       HUGE_ORDER);
	if (!h->pages) {
		kfree(h);
		return ERR_PTR(-ENOMEM);
	}
	list_add(&h->list, &holes);
	return h;
}

/*
 * Returns a hole with room for @len bytes of the channel; or a new one; or an error. A channel that
 * has more than 2 MiB begins in a new one and continues in new ones
 */
static struct qv_hole *memory_hole(const struct qv_channel *c, u32 len)
{
	struct qv_hole *h;

	list_for_each_entry(h, &holes, list)
		if (c->page.length <= QV_HUGE && !h->closed && h->used + len <= QV_HUGE &&
		    memory_same_ends(&h->of, &c->page))
			return h;
	h = memory_new_hole();
	if (!IS_ERR(h))
		h->of = c->page;
	return h;
}

static int memory_take(struct qv_channel *c)
{
	u64 done, len;
	struct qv_hole *h;

	for (done = 0; done < c->page.length; done += len) {
		len = min_t(u64, c->page.length - done, QV_HUGE);
		h = memory_hole(c, len);
		if (IS_ERR(h))
			return PTR_ERR(h);
		if (!done)
			c->first = h->used;
		h->used += len;
		h->channels++;
		c->holes[c->num_holes++] = h;
	}
	return 0;
}

struct page *qv_channel_page(const struct qv_channel *c, u64 at)
{
	u64 inside = c->first + at;

	return c->holes[inside / QV_HUGE]->pages + (inside % QV_HUGE >> PAGE_SHIFT);
}

/* Lets Linux see the channel as one piece */
static void *memory_map(const struct qv_channel *c)
{
	u32 num = c->page.length >> PAGE_SHIFT, i;
	struct page **pages;
	void *at;

	if (c->num_holes == 1)
		return page_address(qv_channel_page(c, 0));
	pages = kvmalloc_array(num, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return NULL;
	for (i = 0; i < num; i++)
		pages[i] = qv_channel_page(c, (u64)i << PAGE_SHIFT);
	at = vmap(pages, num, VM_MAP, PAGE_KERNEL);
	kvfree(pages);
	return at;
}

int qv_channel_memory_take(struct qv_channel *c)
{
	int error;

	mutex_lock(&holes_lock);
	error = memory_take(c);
	mutex_unlock(&holes_lock);
	if (!error && c->self >= 0) {
		c->window = memory_map(c);
		error = c->window ? 0 : -ENOMEM;
	}
	return error;
}

void qv_channel_memory_leave(struct qv_channel *c, bool lost)
{
	u32 i;

	mutex_lock(&holes_lock);
	for (i = 0; i < c->num_holes; i++) {
		c->holes[i]->closed = true;
		c->holes[i]->lost |= lost;
	}
	mutex_unlock(&holes_lock);
}

/* A channel, or a cell, no longer uses the hole */
static void memory_put(struct qv_hole *h)
{
	if (--h->channels)
		return;
	list_del(&h->list);
	if (!h->lost)
		__free_pages(h->pages, HUGE_ORDER);
	kfree(h);
}

void qv_channel_memory_give(struct qv_channel *c)
{
	if (c->num_holes > 1 && c->window)
		vunmap(c->window);
	mutex_lock(&holes_lock);
	while (c->num_holes)
		memory_put(c->holes[--c->num_holes]);
	mutex_unlock(&holes_lock);
}

struct qv_hole *qv_hole_take(void)
{
	struct qv_hole *h;

	mutex_lock(&holes_lock);
	h = memory_new_hole();
	if (!IS_ERR(h)) {
		h->closed = true;
		h->channels = 1;
	}
	mutex_unlock(&holes_lock);
	return h;
}

void qv_hole_put(struct qv_hole *h)
{
	mutex_lock(&holes_lock);
	memory_put(h);
	mutex_unlock(&holes_lock);
}

void qv_hole_use(struct qv_hole *h, struct qv_channel *c)
{
	mutex_lock(&holes_lock);
	h->channels++;
	c->holes[0] = h;
	c->num_holes = 1;
	c->window = page_address(h->pages);
	mutex_unlock(&holes_lock);
}

u32 qv_hole_users(const struct qv_hole *h)
{
	u32 users;

	mutex_lock(&holes_lock);
	users = h->channels - 1;	/* the cell itself */
	mutex_unlock(&holes_lock);
	return users;
}

u64 qv_hole_pa(const struct qv_hole *h)
{
	return page_to_phys(h->pages);
}

int qv_channel_memory_mmap(const struct qv_channel *c, struct vm_area_struct *vma, u64 at)
{
	unsigned long va = vma->vm_start;
	u64 len;
	int error = 0;

	for (; va < vma->vm_end && !error; va += len, at += len) {
		len = min_t(u64, vma->vm_end - va, QV_HUGE - (c->first + at) % QV_HUGE);
		error = remap_pfn_range(vma, va, page_to_pfn(qv_channel_page(c, at)), len,
					vma->vm_page_prot);
	}
	return error;
}

u64 qv_channel_memory_of(const struct qv_cell *cell)
{
	u64 bytes = 0;
	u32 i, k, j;

	for (i = 0; i < cell->num_channels; i++)
		for (k = 0; k < cell->channels[i]->num_holes; k++) {
			const struct qv_hole *h = cell->channels[i]->holes[k];

			/* only the last part of a channel shares its page with another channel */
			for (j = 0; j < i; j++)
				if (cell->channels[j]->holes[cell->channels[j]->num_holes - 1] == h)
					break;
			bytes += j == i ? QV_HUGE : 0;
		}
	return bytes;
}
