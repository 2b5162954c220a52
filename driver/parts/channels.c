// SPDX-License-Identifier: GPL-2.0-only
/*
 * Channels of cells. Linux owns the memory of a channel until its first cell starts. Then the
 * monitor has it until no cell lists the channel.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "abi/calls.h"
#include "abi/create.h"
#include "abi/layout.h"
#include "qv.h"
#include "cells.h"
#include "parts/channels.h"

/* A channel's bell has this vector plus the number of the channel in the cell */
#define BELL_FIRST_VECTOR	0x22

static LIST_HEAD(channels);

static struct qv_channel_dev *channels_find(const char *name)
{
	struct qv_channel_dev *c;

	list_for_each_entry(c, &channels, list)
		if (!strncmp(c->page.name, name, QV_NAME_LEN))
			return c;
	return NULL;
}

bool qv_channel_name_ok(const char *name)
{
	size_t n = strnlen(name, QV_NAME_LEN);

	return n && n < QV_NAME_LEN &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == n &&
	       name[0] != '-' && name[0] != '_';
}

/* Returns the index of the end with that name, or -1 */
static s32 channels_end(const struct qv_chan_page *page, const char *name)
{
	u32 i;

	for (i = 0; i < page->ends; i++)
		if (!strncmp(page->end[i].name, name, QV_NAME_LEN))
			return i;
	return -1;
}

/* Fills in the life page. Returns NULL or why there can be no such channel */
static const char *channels_page(struct qv_chan_page *page, const struct qv_channel_plan *plan)
{
	const char *wrong;
	u32 i;

	BUILD_BUG_ON(QV_CHANNEL_ENDS != QV_CHAN_MAX_ENDS || QV_NAME_LEN != QV_CHAN_NAME_LEN ||
		     QV_CHANNEL_SCHEMA_LEN != QV_CHAN_SCHEMA_LEN ||
		     QV_CHAN_MAX_LENGTH > QV_CHANNEL_LEN ||
		     QV_CHAN_MAX_LENGTH > QV_MON_CHANNEL_PAGES * QV_HUGE);
	memset(page, 0, sizeof(*page));
	strscpy(page->name, plan->name, sizeof(page->name));
	if (strnlen(plan->schema, QV_CHANNEL_SCHEMA_LEN) == QV_CHANNEL_SCHEMA_LEN)
		return "its schema does not end";
	strscpy(page->schema, plan->schema, sizeof(page->schema));
	page->type = plan->type;
	page->full = plan->full;
	page->flags = plan->flags;
	page->ends = plan->num_ends;
	page->item = plan->item;
	page->slots = plan->slots;
	if (plan->flags & ~(QV_CHAN_RECONNECT | QV_CHAN_BELL | QV_CHAN_ONE_SHOT))
		return "a flag is not known";
	if (plan->writers > plan->num_ends ||
	    (plan->writers && plan->type != QV_CHAN_MEMORY))
		return "only the ends of a memory can be several writers";
	wrong = qv_chan_lay_out(page);
	if (wrong)
		return wrong;
	for (i = 0; i < page->ends; i++) {
		if (!qv_channel_name_ok(plan->ends[i]) || channels_end(page, plan->ends[i]) >= 0)
			return "the name of an end is malformed, or given twice";
		strscpy(page->end[i].name, plan->ends[i], QV_NAME_LEN);
		if (i && i < plan->writers)
			page->end[i].flags = QV_CHAN_END_WRITES;
	}
	return NULL;
}

/* Returns NULL, or why its device cannot have that owner and mode */
static const char *channels_owner(const struct qv_chan_page *page,
				  const struct qv_channel_plan *plan)
{
	if (channels_end(page, QV_FRONT_END) < 0)
		return plan->uid | plan->gid | plan->mode ?
		       "only a channel with an end of Linux has an owner" : NULL;
	if (plan->mode & ~0666u)
		return "its mode has other bits than those of reading and writing";
	return uid_valid(KUIDT_INIT(plan->uid)) && gid_valid(KGIDT_INIT(plan->gid)) ? NULL :
	       "its owner is no user or group";
}

/* Returns the name of a cell that lists the channel */
static const char *channels_user(const struct qv_channel_dev *c)
{
	struct qv_cell *cell;
	u32 i;

	list_for_each_entry(cell, &qv_cells, list)
		for (i = 0; i < cell->num_channels; i++)
			if (cell->channels[i] == c)
				return cell->name;
	return "another cell";
}

/* Refuses a description of the channel other than that of the cell that was created first */
static int channels_check_same(struct qv_reply *r, const struct qv_channel_dev *c, const char *cell,
			       const struct qv_chan_page *page, const struct qv_channel_plan *plan)
{
	struct qv_channel_view had = { &c->page, c->uid, c->gid, c->mode };
	struct qv_channel_view has = { page, plan->uid, plan->gid, plan->mode };
	char first[QV_CHANNEL_WORD], second[QV_CHANNEL_WORD];

	if (!qv_channel_differs(&had, &has, first, second))
		return 0;
	return qv_refuse(r, QV_E_CHANNEL, "say the same in the file of each end",
			 "%s says of channel '%s' %s, but %s says %s", channels_user(c),
			 c->page.name, first, cell, second);
}

/* The bell of the cell's i-th channel. 0: none */
static u32 channels_vector(const struct qv_cell_create *q, u32 i)
{
	const struct qv_channel_plan *plan = &q->channels[i];

	return !(plan->flags & QV_CHAN_BELL) ? 0 : plan->bell_vector ?: BELL_FIRST_VECTOR + i;
}

static const char *channels_bell_wrong(const struct qv_cell_create *q, u32 i)
{
	const struct qv_channel_plan *plan = &q->channels[i];
	u32 vector = channels_vector(q, i), k;

	if (!vector)
		return plan->bell_vector || plan->bell_cpu ? "it has a vector without bells" :
							     NULL;
	if (vector < 32 || vector > 255)
		return "the vector of its bell is not 32 to 255";
	if (plan->bell_cpu >= q->num_cpus)
		return "its bell is for a CPU that the cell does not have";
	for (k = 0; k < i; k++)
		if (channels_vector(q, k) == vector)
			return "its bell has the vector of another channel";
	return NULL;
}

static int channels_check_one(struct qv_reply *r, const struct qv_cell_create *q, u32 i)
{
	const struct qv_channel_plan *plan = &q->channels[i];
	struct qv_chan_page page;
	struct qv_channel_dev *c;
	const char *wrong;
	u32 k;

	if (!qv_channel_name_ok(plan->name) || !strncmp(plan->name, "key-", 4))
		return qv_refuse(r, QV_E_CHANNEL,
				 "use a-z, 0-9, '-' and '_', up to 31 characters, not key- first",
				 "the name of channel %u is malformed", i);
	for (k = 0; k < i; k++)
		if (!strcmp(plan->name, q->channels[k].name))
			return qv_refuse(r, QV_E_CHANNEL, "list it once",
					 "channel '%s' is listed twice", plan->name);
	wrong = channels_page(&page, plan) ?: channels_bell_wrong(q, i);
	if (!wrong)
		wrong = channels_owner(&page, plan);
	if (wrong)
		return qv_refuse(r, QV_E_CHANNEL, "correct the cell's file",
				 "channel '%s' cannot be: %s", plan->name, wrong);
	if (channels_end(&page, q->name) < 0)
		return qv_refuse(r, QV_E_CHANNEL, "name the cell as a writer or reader",
				 "cell '%s' is no end of channel '%s'", q->name, plan->name);
	c = channels_find(plan->name);
	return c ? channels_check_same(r, c, q->name, &page, plan) : 0;
}

/* Checks that the cell's memory has room for all channels, with those at run time */
static int channels_check_sum(struct qv_reply *r, const struct qv_cell_create *q)
{
	struct qv_chan_page page;
	u64 sum = q->num_dynamic * (u64)QV_KEY_LEN;
	u32 i;

	for (i = 0; i < q->num_channels; i++) {
		channels_page(&page, &q->channels[i]);
		sum += ALIGN(page.length, QV_CHANNEL_STEP);
	}
	return sum <= QV_CHANNEL_LEN ? 0 :
	       qv_refuse(r, QV_E_TOO_MANY, "make them smaller, or fewer",
			 "the channels of the cell have more than %u MiB", QV_CHANNEL_LEN >> 20);
}

static int channels_check(struct qv_reply *r, const struct qv_cell_create *q)
{
	int error = 0;
	u32 i;

	if (q->num_channels > QV_MAX_CHANNELS)
		return qv_refuse(r, QV_E_TOO_MANY, "", "more than %u channels", QV_MAX_CHANNELS);
	for (i = 0; i < q->num_channels && !error; i++)
		error = channels_check_one(r, q, i);
	return error ?: channels_check_sum(r, q);
}

static struct qv_channel_dev *channels_create(const struct qv_channel_plan *plan)
{
	struct qv_channel_dev *c = kzalloc(sizeof(*c), GFP_KERNEL);
	int error;

	if (!c)
		return ERR_PTR(-ENOMEM);
	channels_page(&c->page, plan);
	c->self = channels_end(&c->page, QV_FRONT_END);
	c->uid = plan->uid;
	c->gid = plan->gid;
	c->mode = plan->mode;
	qv_channel_init(c);
	error = qv_channel_memory_take(c);
	if (!error && c->self >= 0)
		error = qv_channel_publish(c);
	if (error) {
		put_device(&c->dev);
		return ERR_PTR(error);
	}
	list_add_tail(&c->list, &channels);
	return c;
}

static void channels_leave(struct qv_channel_dev *c)
{
	u64 result;

	if (--c->cells)
		return;
	list_del(&c->list);
	qv_channel_withdraw(c);
	/* 1: there is more to clear */
	while ((result = qv_manage(QV_HC_CHANNEL, page_to_phys(qv_channel_page(c, 0)))) == 1)
		cond_resched();
	if (result) {
		qv_log("driver", "the memory of channel %s is lost: the monitor still has it",
		       c->page.name);
		qv_channel_memory_lost(c);
	}
	qv_channel_memory_give(c);	/* also while a program has the device open */
	put_device(&c->dev);
}

static int channels_take(struct qv_reply *r, struct qv_cell *cell)
{
	const struct qv_cell_create *q = cell->config;

	for (; cell->num_channels < q->num_channels; cell->num_channels++) {
		const struct qv_channel_plan *plan = &q->channels[cell->num_channels];
		struct qv_channel_dev *c = channels_find(plan->name) ?: channels_create(plan);

		if (c == ERR_PTR(-ENOMEM))
			return qv_refuse(r, QV_E_NO_MEMORY, "free memory",
					 "Linux has no pages of 2 MiB for channel '%s'",
					 plan->name);
		if (c == ERR_PTR(-ENOSPC))
			return qv_refuse(r, QV_E_TOO_MANY, "destroy a cell with channels",
					 "the channels of all cells would take more than %u MiB",
					 QV_MON_CHANNELS * (QV_HUGE >> 20));
		if (IS_ERR(c))
			return qv_refuse(r, QV_E_CHANNEL, "read Linux's log",
					 "Linux makes no device for channel '%s' (error %ld)",
					 plan->name, -PTR_ERR(c));
		c->cells++;
		cell->channels[cell->num_channels] = c;
	}
	return 0;
}

static void channels_info(const struct qv_cell *cell, struct qv_info *info)
{
	u64 address = QV_CHANNEL_GPA;
	u32 i;

	BUILD_BUG_ON(QV_INFO_MAX_CHANNELS != QV_MAX_CHANNELS ||
		     QV_CHAN_MAX_CHANNELS != QV_MAX_CHANNELS);
	info->num_channels = cell->num_channels;
	for (i = 0; i < cell->num_channels; i++) {
		const struct qv_chan_page *page = &cell->channels[i]->page;
		struct qv_info_channel *to = &info->channels[i];

		strscpy(to->name, page->name, sizeof(to->name));
		to->address = address;
		address += ALIGN(page->length, QV_CHANNEL_STEP);
		to->length = page->length;
		to->end = channels_end(page, cell->name);
		to->type = page->type;
		info->bells[i].vector = channels_vector(cell->config, i);
		info->bells[i].cpu = cell->config->channels[i].bell_cpu;
	}
}

/* Where the channel begins (@k is 0) or continues */
static u64 channels_pa(const struct qv_channel_dev *c, u32 k)
{
	return page_to_phys(qv_channel_page(c, k * (u64)QV_HUGE));
}

static void channels_describe(const struct qv_cell *cell, struct qv_mon_create *m)
{
	u32 i, k;

	m->num_channels = cell->num_channels;
	for (i = 0; i < cell->num_channels; i++) {
		for (k = 0; k < cell->channels[i]->num_mem; k++)
			m->channels[i].pa[k] = channels_pa(cell->channels[i], k);
		m->channels[i].end = channels_end(&cell->channels[i]->page, cell->name);
		m->channels[i].page = cell->channels[i]->page;
		m->channels[i].bell_vector = channels_vector(cell->config, i);
		m->channels[i].bell_cpu = cell->config->channels[i].bell_cpu;
	}
}

static void channels_show(const struct qv_cell *cell, struct qv_cell_info *info)
{
	info->num_channels = cell->config->num_channels;
	memcpy(info->channels, cell->config->channels, sizeof(info->channels));
	info->channel_memory = qv_channel_memory_of(cell);
}

static void channels_begin(struct qv_cell *cell)
{
	u32 i;

	for (i = 0; i < cell->num_channels; i++) {
		struct qv_channel_dev *c = cell->channels[i];

		mutex_lock(&c->lock);
		c->made = true;
		mutex_unlock(&c->lock);
		qv_channel_bell_open(c);
		qv_channel_news(c);
		if (c->self >= 0)
			qv_channel_announce(c, cell->name, true);
	}
	cell->channels_begun = true;
}

/* The cell's instance has written its words `life` by now */
static void channels_end_life(struct qv_cell *cell)
{
	u32 i;

	for (i = 0; i < cell->num_channels && cell->channels_begun; i++) {
		struct qv_channel_dev *c = cell->channels[i];

		qv_channel_news(c);
		if (c->self >= 0)
			qv_channel_announce(c, cell->name, false);
	}
	cell->channels_begun = false;
}

static void channels_give(struct qv_cell *cell)
{
	while (cell->num_channels)
		channels_leave(cell->channels[--cell->num_channels]);
}

const struct qv_part qv_part_channels = {
	.check = channels_check,
	.take = channels_take,
	.info = channels_info,
	.describe = channels_describe,
	.show = channels_show,
	.begin = channels_begin,
	.end = channels_end_life,
	.give = channels_give,
	.unload = qv_channel_unload,
};
