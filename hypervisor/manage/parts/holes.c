// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of channels: pages of 2 MiB that Linux gave up. Several channels may lie in one. The
 * first takes it from Linux, and the last gives it back.
 */
#include "abi/errors.h"
#include "front/linux_memory.h"
#include "manage/manage.h"
#include "manage/request.h"
#include "holes.h"

/* The 2 MiB page with number @k of the channel */
static u64 huge(const struct qv_mon_channel *c, u32 k)
{
	return c->pa[k] & ~(QV_HUGE - 1ull);
}

static u32 num_huge(const struct qv_mon_channel *c)
{
	return ((c->pa[0] & (QV_HUGE - 1)) + c->page.length + QV_HUGE - 1) / QV_HUGE;
}

/* Bytes of the channel from @at on that are in one 2 MiB page */
static u64 part(const struct qv_mon_channel *c, u64 at)
{
	u64 room = QV_HUGE - (qv_mon_channel_at(c, at) & (QV_HUGE - 1)), rest = c->page.length - at;

	return room < rest ? room : rest;
}

#define FOR_EACH_PART(c, at) for (at = 0; at < (c)->page.length; at += part(c, at))

static struct hole *hole_at(const struct instance *inst, u64 pa)
{
	const struct manager_state *m = &inst->manager;
	u32 i;

	for (i = 0; i < QV_MON_HOLES; i++)
		if (m->holes[i].users && m->holes[i].pa == pa)
			return (struct hole *)&m->holes[i];
	return NULL;
}

bool holes_overlap(const struct instance *inst, u64 pa, u64 len)
{
	u32 i;

	for (i = 0; i < QV_MON_HOLES; i++)
		if (inst->manager.holes[i].users &&
		    overlaps(pa, len, inst->manager.holes[i].pa, QV_HUGE))
			return true;
	return false;
}

bool channels_overlap(const struct qv_mon_channel *a, const struct qv_mon_channel *b)
{
	u64 x, y;

	FOR_EACH_PART(a, x)
		FOR_EACH_PART(b, y)
			if (overlaps(qv_mon_channel_at(a, x), part(a, x),
				     qv_mon_channel_at(b, y), part(b, y)))
				return true;
	return false;
}

bool channel_places_ok(const struct qv_mon_channel *c)
{
	u32 i, k, num;

	if (!c->pa[0] || c->pa[0] & (QV_PAGE - 1) || num_huge(c) > QV_MON_CHANNEL_PAGES)
		return false;
	num = num_huge(c);
	for (k = 1; k < QV_MON_CHANNEL_PAGES; k++) {
		if (k < num ? c->pa[k] & (QV_HUGE - 1) : c->pa[k])
			return false;
		for (i = 0; i < k && k < num; i++)
			if (huge(c, i) == c->pa[k])
				return false;
	}
	return true;
}

bool channel_meets(const struct qv_mon_channel *c, u64 pa, u64 len)
{
	u32 k;

	for (k = 0; k < num_huge(c); k++)
		if (overlaps(huge(c, k), QV_HUGE, pa, len))
			return true;
	return false;
}

/* Does Linux own all the pages of the channel that are no holes yet? */
bool channel_takable(const struct instance *inst, const struct qv_mon_channel *c)
{
	u32 k;

	for (k = 0; k < num_huge(c); k++)
		if (!hole_at(inst, huge(c, k)) &&
		    (!request_pages_ok(inst, huge(c, k), QV_HUGE, 2) ||
		     request_meets_window(inst, huge(c, k), QV_HUGE)))
			return false;
	return true;
}

/* Is the page @k of channel @i the first in the request that will be the hole there? */
static bool first_there(const struct qv_mon_create *q, u32 i, u32 k)
{
	u64 pa = huge(&q->channels[i], k);
	u32 j;

	if (hole_at(me(), pa))
		return false;
	for (j = 0; j < i; j++)
		if (channel_meets(&q->channels[j], pa, QV_HUGE))
			return false;
	return true;
}

u64 holes_reserve(const struct qv_mon_create *q)
{
	u32 i, k, need = 0;

	for (i = 0; i < q->num_channels; i++)
		for (k = 0; k < num_huge(&q->channels[i]); k++)
			need += first_there(q, i, k);
	for (i = 0; i < QV_MON_HOLES && need; i++) {
		struct hole *h = &me()->manager.holes[i];

		if (h->users)
			continue;
		need--;
		if (!h->table)
			h->table = pool_take(&me()->pool);
		if (!h->table)
			return QV_ME_TABLES;
	}
	return need ? QV_ME_CHANNEL_SLOTS : QV_ME_OK;
}

void holes_take(const struct qv_mon_channel *c)
{
	struct hole *h;
	u32 k, i;

	for (k = 0; k < num_huge(c); k++) {
		h = hole_at(me(), huge(c, k));
		for (i = 0; !h; i++)
			if (!me()->manager.holes[i].users)
				h = &me()->manager.holes[i];
		if (!h->users) {
			h->pa = huge(c, k);
			h->split = 0;
			linux_memory(h->pa, QV_HUGE, LINUX_NONE);
		}
		h->users++;
	}
}

/*
 * Changes pages of 4 KiB, also where a whole page of 2 MiB changes: else another request could take
 * the whole page for a page of Linux
 */
void holes_show(const struct qv_mon_channel *c, u64 at, u64 len, enum linux_access access)
{
	u64 pa, end, n;
	struct hole *h;

	for (; len; at += n, len -= n) {
		n = part(c, at) < len ? part(c, at) : len;
		pa = qv_mon_channel_at(c, at);
		h = hole_at(me(), pa & ~(QV_HUGE - 1ull));
		if (access != LINUX_NONE && !h->split) {
			front_split(&me()->nested, h->pa, h->table);
			h->split = 1;
		}
		/* a hole that is not split may lead to tables of dummy pages: front/touch.c */
		for (end = pa + n; h->split && pa < end; pa += QV_PAGE)
			linux_memory(pa, QV_PAGE, access);
	}
}

void holes_hide(const struct qv_mon_channel *c)
{
	struct hole *h = hole_at(me(), huge(c, 0));

	linux_memory(h->pa, QV_HUGE, LINUX_NONE);
	h->split = 0;
}

void holes_give(const struct qv_mon_channel *c)
{
	struct hole *h;
	u32 k;

	holes_show(c, 0, c->page.length, LINUX_NONE);
	for (k = 0; k < num_huge(c); k++) {
		h = hole_at(me(), huge(c, k));
		if (!--h->users)
			linux_memory(h->pa, QV_HUGE, LINUX_ALL);
	}
}

u64 channel_clear_part(const struct qv_mon_channel *c, u64 at)
{
	memset(channel_open(c, at), 0, part(c, at));
	manage(QV_VA_SCRUB, 0);
	return part(c, at);
}

void *channel_open(const struct qv_mon_channel *c, u64 at)
{
	u64 pa = qv_mon_channel_at(c, at);

	manage(QV_VA_SCRUB, pa & ~(QV_HUGE - 1ull));
	return (void *)(QV_VA_SCRUB + (pa & (QV_HUGE - 1)));
}
