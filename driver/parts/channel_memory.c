// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of channels: pages of 2 MiB, each for one channel, or for the channels that a cell
 * opens there at run time, one after the other.
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
	u32 users;			/* channels there, and the cell that set it aside */
	bool lost;			/* the monitor did not give it back */
};

static LIST_HEAD(holes);
static DEFINE_MUTEX(holes_lock);	/* protects the list, and the members of all holes */

/* Returns a new hole with one user, or an error */
static struct qv_hole *memory_new_hole(void)
{
	struct qv_hole *h;
	u32 num = 0;

	list_for_each_entry(h, &holes, list)
		num++;
	if (num >= QV_MON_CHANNELS)
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
	h->users = 1;
	list_add(&h->list, &holes);
	return h;
}

static int memory_take(struct qv_channel_dev *c)
{
	u32 num = DIV_ROUND_UP(c->page.length, QV_HUGE);

	for (; c->num_holes < num; c->num_holes++) {
		struct qv_hole *h = memory_new_hole();

		if (IS_ERR(h))
			return PTR_ERR(h);
		c->holes[c->num_holes] = h;
	}
	return 0;
}

struct page *qv_channel_page(const struct qv_channel_dev *c, u64 at)
{
	return c->holes[at / QV_HUGE]->pages + (at % QV_HUGE >> PAGE_SHIFT);
}

/* Lets Linux see the channel as one piece */
static void *memory_map(const struct qv_channel_dev *c)
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

int qv_channel_memory_take(struct qv_channel_dev *c)
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

void qv_channel_memory_lost(struct qv_channel_dev *c)
{
	u32 i;

	mutex_lock(&holes_lock);
	for (i = 0; i < c->num_holes; i++)
		c->holes[i]->lost = true;
	mutex_unlock(&holes_lock);
}

/* A channel, or a cell, no longer uses the hole */
static void memory_put(struct qv_hole *h)
{
	if (--h->users)
		return;
	list_del(&h->list);
	if (!h->lost)
		__free_pages(h->pages, HUGE_ORDER);
	kfree(h);
}

void qv_channel_memory_give(struct qv_channel_dev *c)
{
	if (c->num_holes > 1 && c->window)
		vunmap(c->window);
	c->window = NULL;
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
	mutex_unlock(&holes_lock);
	return h;
}

void qv_hole_put(struct qv_hole *h)
{
	mutex_lock(&holes_lock);
	memory_put(h);
	mutex_unlock(&holes_lock);
}

void qv_hole_use(struct qv_hole *h, struct qv_channel_dev *c)
{
	mutex_lock(&holes_lock);
	h->users++;
	c->holes[0] = h;
	c->num_holes = 1;
	c->window = page_address(h->pages);
	mutex_unlock(&holes_lock);
}

u64 qv_hole_pa(const struct qv_hole *h)
{
	return page_to_phys(h->pages);
}

u64 qv_channel_memory_of(const struct qv_cell *cell)
{
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < cell->num_channels; i++)
		bytes += cell->channels[i]->num_holes * (u64)QV_HUGE;
	return bytes;
}
