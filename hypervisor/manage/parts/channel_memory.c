// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of channels: pages of 2 MiB that Linux gave up, each for one channel. While Linux has
 * an end of a channel, tables of 4 KiB pages lead Linux to the parts that it may reach.
 */
#include "manage/manage.h"
#include "channel_memory.h"

u64 channel_tables(u32 pages)
{
	struct manager_state *m = &me()->manager;
	u64 table;

	if (pages > QV_MON_CHANNELS)
		return QV_ME_CHANNEL_SLOTS;
	while (m->num_tables < pages) {
		table = pt_take(&me()->pt_pool);
		if (!table)
			return QV_ME_TABLES;
		m->tables[m->free_tables++] = table;
		m->num_tables++;
	}
	return QV_ME_OK;
}

void channel_set(const struct qv_mon_channel *c, enum linux_access access)
{
	u32 k;

	for (k = 0; k < qv_mon_channel_pages(c); k++)
		linux_memory(c->pa[k], QV_HUGE, access);
}

void channel_split(struct channel *r)
{
	struct manager_state *m = &me()->manager;
	u32 k;

	for (k = 0; k < qv_mon_channel_pages(&r->is); k++)
		front_split(&me()->nested, r->is.pa[k], m->tables[--m->free_tables]);
	r->shown = 1;
}

void channel_show(const struct qv_mon_channel *c, u64 at, u64 len, enum linux_access access)
{
	u64 end = at + len;

	for (; at < end; at += QV_PAGE)
		linux_memory(qv_mon_channel_at(c, at), QV_PAGE, access);
}

/*
 * The tables are free at once. A CPU of Linux that has not flushed may still use one for this
 * channel when it shows another channel to Linux: only parts that Linux may reach anyway. The
 * caller flushes before Linux, or a cell, uses the pages again.
 */
void channel_hide(struct channel *r)
{
	struct manager_state *m = &me()->manager;
	u32 k, level;

	for (k = 0; r->shown && k < qv_mon_channel_pages(&r->is); k++)
		m->tables[m->free_tables++] = *paging_find(&me()->nested, r->is.pa[k], 2, &level) &
					      PT_ADDR;
	r->shown = 0;
	channel_set(&r->is, LINUX_NONE);
}

struct qv_chan_page *channel_life_page(const struct qv_mon_channel *c)
{
	mapping_set(QV_VA_SCRUB, c->pa[0]);
	return (struct qv_chan_page *)QV_VA_SCRUB;
}

void channel_clear(const struct qv_mon_channel *c, u32 k)
{
	u64 rest = c->page.length - k * (u64)QV_HUGE;

	mapping_set(QV_VA_SCRUB, c->pa[k]);
	memset((void *)QV_VA_SCRUB, 0, rest < QV_HUGE ? rest : QV_HUGE);
	mapping_set(QV_VA_SCRUB, 0);
}
