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

struct qv_channel_mem {
	struct list_head list;
	struct page *pages;		/* 2 MiB */
	u32 users;			/* channels there, and the cell that set it aside */
	bool lost;			/* the monitor did not give it back */
};

static LIST_HEAD(memory_list);
static DEFINE_MUTEX(memory_lock);	/* protects the list, and its members */

/* Returns new memory with one user, or an error */
static struct qv_channel_mem *memory_new(void)
{
	struct qv_channel_mem *h;
	u32 num = 0;

	list_for_each_entry(h, &memory_list, list)
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
	list_add(&h->list, &memory_list);
	return h;
}

static int memory_take(struct qv_channel_dev *c)
{
	u32 num = DIV_ROUND_UP(c->page.length, QV_HUGE);

	for (; c->num_mem < num; c->num_mem++) {
		struct qv_channel_mem *h = memory_new();

		if (IS_ERR(h))
			return PTR_ERR(h);
		c->mem[c->num_mem] = h;
	}
	return 0;
}

struct page *qv_channel_page(const struct qv_channel_dev *c, u64 at)
{
	return c->mem[at / QV_HUGE]->pages + (at % QV_HUGE >> PAGE_SHIFT);
}

/* Lets Linux see the channel as one piece */
static void *memory_map(const struct qv_channel_dev *c)
{
	u32 num = c->page.length >> PAGE_SHIFT, i;
	struct page **pages;
	void *at;

	if (c->num_mem == 1)
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

	mutex_lock(&memory_lock);
	error = memory_take(c);
	mutex_unlock(&memory_lock);
	if (!error && c->self >= 0) {
		c->window = memory_map(c);
		error = c->window ? 0 : -ENOMEM;
	}
	return error;
}

void qv_channel_memory_lost(struct qv_channel_dev *c)
{
	u32 i;

	mutex_lock(&memory_lock);
	for (i = 0; i < c->num_mem; i++)
		c->mem[i]->lost = true;
	mutex_unlock(&memory_lock);
}

/* A channel, or a cell, no longer uses the memory */
static void memory_put(struct qv_channel_mem *h)
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
	if (c->num_mem > 1 && c->window)
		vunmap(c->window);
	c->window = NULL;
	mutex_lock(&memory_lock);
	while (c->num_mem)
		memory_put(c->mem[--c->num_mem]);
	mutex_unlock(&memory_lock);
}

struct qv_channel_mem *qv_channel_mem_take(void)
{
	struct qv_channel_mem *h;

	mutex_lock(&memory_lock);
	h = memory_new();
	mutex_unlock(&memory_lock);
	return h;
}

void qv_channel_mem_put(struct qv_channel_mem *h)
{
	mutex_lock(&memory_lock);
	memory_put(h);
	mutex_unlock(&memory_lock);
}

void qv_channel_mem_use(struct qv_channel_mem *h, struct qv_channel_dev *c)
{
	mutex_lock(&memory_lock);
	h->users++;
	c->mem[0] = h;
	c->num_mem = 1;
	c->window = page_address(h->pages);
	mutex_unlock(&memory_lock);
}

u64 qv_channel_mem_pa(const struct qv_channel_mem *h)
{
	return page_to_phys(h->pages);
}

u64 qv_channel_memory_of(const struct qv_cell *cell)
{
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < cell->num_channels; i++)
		bytes += cell->channels[i]->num_mem * (u64)QV_HUGE;
	return bytes;
}
