// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that cells set aside for channels at run time, and Linux's ends of such channels: the
 * devices /dev/qv-channel/key-KEY. The memory is the monitor's while the cell has a life. Another
 * cell that is at the other end of a channel may keep a page for longer: the page is kept in
 * keys_kept until then.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "abi/calls.h"
#include "abi/create.h"
#include "abi/errors.h"
#include "abi/layout.h"
#include "qv.h"
#include "cells.h"
#include "parts/channels.h"

/* A channel that Linux has opened by a key */
struct qv_key {
	struct list_head list;
	u32 key;
	struct qv_cell *cell;
	struct qv_channel_dev *c;
	bool leaving;			/* it has no device, but the monitor has kept the end */
};

static LIST_HEAD(keys);
static uint test_keys_busy;
module_param(test_keys_busy, uint, 0600);
MODULE_PARM_DESC(test_keys_busy,
		 "for tests: so many times the monitor is busy when Linux leaves a channel");
static struct qv_channel_mem *keys_kept[QV_MON_CHANNELS];	/* pages that a cell still uses */

/*
 * Returns true if the page is Linux's again. The answer of the first call may also mean that Linux
 * has left the channel, which a cell still uses. The second call tells
 */
static bool keys_back(const struct qv_channel_mem *h)
{
	u64 pa = qv_channel_mem_pa(h);

	return !qv_manage(QV_HC_CHANNEL, pa) && !qv_manage(QV_HC_CHANNEL, pa);
}

/* Tries to free a page. Returns false if the monitor still has it for another cell */
static bool keys_free(struct qv_channel_mem *h)
{
	if (!keys_back(h))
		return false;
	qv_channel_mem_put(h);
	return true;
}

static void keys_free_kept(void)
{
	u32 i;

	for (i = 0; i < QV_MON_CHANNELS; i++)
		if (keys_kept[i] && keys_free(keys_kept[i]))
			keys_kept[i] = NULL;
}

/* There are not more such pages than places here */
static void keys_keep(struct qv_channel_mem *h)
{
	u32 i;

	for (i = 0; i < QV_MON_CHANNELS; i++)
		if (!keys_kept[i]) {
			keys_kept[i] = h;
			return;
		}
}

static int keys_check(struct qv_reply *r, const struct qv_cell_create *q)
{
	u32 i;

	if (q->num_channels > QV_MAX_CHANNELS || q->num_with > QV_MAX_WITH ||
	    q->num_dynamic > QV_MAX_CHANNELS - q->num_channels)
		return qv_refuse(r, QV_E_TOO_MANY, "list fewer, or set aside less memory",
				 "more than %u channels, with those at run time",
				 QV_MAX_CHANNELS);
	if (!q->num_dynamic != !q->num_with)
		return qv_refuse(r, QV_E_CHANNEL, "say both memory and with",
				 "channels at run time need memory, and an end to share it with");
	for (i = 0; i < q->num_with; i++)
		if (!qv_channel_name_ok(q->with_ends[i]) || !strcmp(q->with_ends[i], q->name))
			return qv_refuse(r, QV_E_CHANNEL, "name other cells, or linux",
					 "end %u for channels at run time is malformed, "
					 "or the cell itself", i);
	return 0;
}

static int keys_take(struct qv_reply *r, struct qv_cell *cell)
{
	for (; cell->num_key_mem < cell->config->num_dynamic; cell->num_key_mem++) {
		struct qv_channel_mem *h = qv_channel_mem_take();

		if (h == ERR_PTR(-ENOSPC))
			return qv_refuse(r, QV_E_TOO_MANY, "destroy a cell with channels",
					 "the channels of all cells would take more than %u MiB",
					 QV_MON_CHANNELS * (QV_HUGE >> 20));
		if (IS_ERR(h))
			return qv_refuse(r, QV_E_NO_MEMORY, "free memory",
					 "Linux has no %u MiB for channels at run time",
					 2 * cell->config->num_dynamic);
		cell->key_mem[cell->num_key_mem] = h;
	}
	return 0;
}

static void keys_info(const struct qv_cell *cell, struct qv_info *info)
{
	info->dynamic = cell->num_key_mem;
}

/* After channels_describe(): see parts.c */
static void keys_describe(const struct qv_cell *cell, struct qv_mon_create *m)
{
	u32 i;

	m->num_dynamic = cell->num_key_mem;
	for (i = 0; i < cell->num_key_mem; i++) {
		struct qv_mon_channel *c = &m->channels[m->num_channels++];

		c->pa[0] = qv_channel_mem_pa(cell->key_mem[i]);
		c->page.length = QV_HUGE;
	}
	BUILD_BUG_ON(sizeof(m->with) != sizeof(cell->config->with_ends));
	m->num_with = cell->config->num_with;
	memcpy(m->with, cell->config->with_ends, sizeof(m->with));
}

static void keys_show(const struct qv_cell *cell, struct qv_cell_info *info)
{
	struct qv_key *k;

	info->num_dynamic = cell->config->num_dynamic;
	info->num_with = cell->config->num_with;
	memcpy(info->with_ends, cell->config->with_ends, sizeof(info->with_ends));
	list_for_each_entry(k, &keys, list) {
		const struct qv_chan_page *page = &k->c->page;
		struct qv_channel_open *to = &info->open[info->num_open];

		if (k->cell != cell || k->leaving || info->num_open == QV_MAX_CHANNELS)
			continue;
		info->num_open++;
		to->key = k->key;
		to->type = page->type;
		to->item = page->item;
		to->slots = page->slots;
		to->full = page->full;
		to->flags = page->flags;
		to->linux_end = k->c->self;
	}
}

static struct qv_key *keys_find(u32 key)
{
	struct qv_key *k;

	list_for_each_entry(k, &keys, list)
		if (k->key == key)
			return k;
	return NULL;
}

static void keys_forget(struct qv_key *k)
{
	list_del(&k->list);
	qv_channel_memory_give(k->c);	/* also while a program has the device open */
	put_device(&k->c->dev);
	kfree(k);
}

static u64 keys_leave(const struct qv_key *k)
{
	if (test_keys_busy) {
		test_keys_busy--;
		return QV_ME_BUSY;
	}
	return qv_manage(QV_HC_CHANNEL, page_to_phys(qv_channel_page(k->c, 0)));
}

/*
 * Linux leaves the channel. Returns 0, or why the monitor has kept the end: then the key stays in
 * the list for another try
 */
static u64 keys_close(struct qv_key *k)
{
	u64 result;

	if (!k->leaving)
		qv_channel_withdraw(k->c);
	k->leaving = true;
	result = keys_leave(k);
	if (result == QV_ME_BUSY || result == QV_ME_CPU_STUCK)
		return result;
	qv_channel_ring_last(k->c);		/* if a cell still has it: Linux has left */
	if (result)
		qv_log("driver", "the monitor keeps Linux's end of the key %u", k->key);
	keys_forget(k);
	return 0;
}

/* The last life of the cell is over: an end that the monitor has kept is asked for with its page */
static void keys_close_all(struct qv_cell *cell)
{
	struct qv_key *k, *next;

	list_for_each_entry_safe(k, next, &keys, list)
		if (k->cell == cell && keys_close(k))
			keys_forget(k);
}

/* The monitor has given up the last life. A page that another cell uses is replaced */
static int keys_reset(struct qv_reply *r, struct qv_cell *cell)
{
	u32 i;

	keys_close_all(cell);
	for (i = 0; i < cell->num_key_mem; i++) {
		struct qv_channel_mem *h;

		if (keys_back(cell->key_mem[i]))
			continue;
		h = qv_channel_mem_take();
		if (IS_ERR(h))
			return qv_refuse(r, QV_E_NO_MEMORY, "destroy the cell at its other end",
					 "another cell uses a page, "
					 "and there are no other 2 MiB");
		keys_keep(cell->key_mem[i]);
		cell->key_mem[i] = h;
	}
	keys_free_kept();
	return 0;
}

static void keys_give(struct qv_cell *cell)
{
	keys_close_all(cell);
	while (cell->num_key_mem) {
		struct qv_channel_mem *h = cell->key_mem[--cell->num_key_mem];

		if (!keys_free(h))
			keys_keep(h);
	}
	keys_free_kept();
}

/* The cell wrote the description, so it is checked. Returns NULL, or the reason of a refusal */
static const char *keys_read(struct qv_channel_dev *c)
{
	const char *wrong;
	u32 i;

	c->page = *(const struct qv_chan_page *)c->window;
	wrong = qv_chan_check(&c->page, QV_HUGE);
	if (wrong)
		return wrong;
	for (i = 0, c->self = -1; i < c->page.ends; i++)
		if (!strcmp(c->page.end[i].name, QV_FRONT_END))
			c->self = i;
	snprintf(c->page.name, sizeof(c->page.name), "key-%016llx", c->page.key);
	return c->self < 0 ? "Linux is no end of it" : NULL;
}

/* Linux is an end now. Makes the device, or leaves again */
static int keys_publish(struct qv_reply *r, struct qv_key *k)
{
	struct qv_channel_dev *c = k->c;
	const char *wrong = keys_read(c);
	int error = wrong ? -EINVAL : qv_channel_publish(c);

	list_add_tail(&k->list, &keys);
	if (!error) {
		qv_channel_bell_open(c);
		qv_channel_ring(c);		/* the cell has news: Linux is there */
		return 0;
	}
	error = qv_refuse(r, QV_E_CHANNEL, "correct the request of the cell",
			  "the channel with the key %u cannot be: %s", k->key,
			  wrong ?: "Linux made no device");
	keys_close(k);
	return error;
}

/* Becomes an end of the channel */
static int keys_open(struct qv_reply *r, struct qv_cell *cell, struct qv_key *k)
{
	u64 page = qv_manage(QV_HC_KEY, cell->id | (u64)k->key << 8);

	if (page == QV_ME_KEY)
		return qv_refuse(r, QV_E_CHANNEL,
				 "let the cell open it first, to linux (dynamic-channels)",
				 "cell '%s' has not opened the key %u with Linux", cell->name,
				 k->key);
	if (page > QV_ME_BASE)
		return qv_refuse_monitor(r, page, "open the channel");
	page -= cell->num_channels;
	if (page >= cell->num_key_mem)
		return qv_refuse(r, QV_E_CHANNEL, "", "the monitor named no memory of the cell");
	qv_channel_mem_use(cell->key_mem[page], k->c);
	k->c->made = true;
	return 0;
}

int qv_key_open(struct qv_channel_key *a, struct qv_cell *cell)
{
	struct qv_key *k = keys_find(a->key);
	int error;

	if (k && k->leaving)
		return qv_refuse(&a->reply, QV_E_CHANNEL, "qvctl channel close, again",
				 "Linux has not left the channel with the key %u yet", a->key);
	if (k)
		return k->cell == cell ? 0 :
		       qv_refuse(&a->reply, QV_E_CHANNEL, "qvctl channel close the other",
				 "the key %u is that of a channel with cell '%s'", a->key,
				 k->cell->name);
	if (!cell->in_monitor_running || !a->key)
		return qv_refuse(&a->reply, QV_E_STATE, "qvctl cell start, and a key from 1 on",
				 "cell '%s' does not run, or the key is 0", cell->name);
	k = kzalloc(sizeof(*k), GFP_KERNEL);
	if (k)
		k->c = kzalloc(sizeof(*k->c), GFP_KERNEL);
	if (!k || !k->c) {
		kfree(k);
		return qv_refuse(&a->reply, QV_E_NO_MEMORY, "free memory", "no memory");
	}
	INIT_LIST_HEAD(&k->list);
	k->key = a->key;
	k->cell = cell;
	qv_channel_init(k->c);
	error = keys_open(&a->reply, cell, k);
	if (error) {
		keys_forget(k);
		return error;
	}
	return keys_publish(&a->reply, k);
}

int qv_key_close(struct qv_channel_key *a, struct qv_cell *cell)
{
	struct qv_key *k = keys_find(a->key);
	u64 result;

	if (!k || k->cell != cell)
		return qv_refuse(&a->reply, QV_E_CHANNEL, "see 'qvctl channel list'",
				 "Linux has not opened the key %u of cell '%s'", a->key,
				 cell->name);
	result = keys_close(k);
	return result ? qv_refuse(&a->reply, QV_E_BUSY, "qvctl channel close, again",
				  "the device is gone, but the monitor still has Linux's end: %s",
				  result == QV_ME_BUSY ? "another management call is under way" :
				  "a CPU did not answer in time") : 0;
}

const struct qv_part qv_part_channel_keys = {
	.check = keys_check,
	.take = keys_take,
	.info = keys_info,
	.describe = keys_describe,
	.show = keys_show,
	.reset = keys_reset,
	.give = keys_give,
};
