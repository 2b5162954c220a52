// SPDX-License-Identifier: GPL-2.0-only
/*
 * Channels at run time: a cell opens one by a key, as with shmget. The first end makes it, in
 * memory that its cell has set aside. The other end finds it if it names the same key and cells and
 * describes it in the same bytes. A cell posts its request (posts.c); Linux makes a call. Neither a
 * third cell nor Linux can take an end that has another name.
 */
#include "channel_memory.h"
#include "channels.h"

#define KEY_END	(1ull << 32)

static bool key_names(const struct qv_chan_page *p, const char *name)
{
	return channel_same(p->end[0].name, name, QV_CHAN_NAME_LEN) ||
	       channel_same(p->end[1].name, name, QV_CHAN_NAME_LEN);
}

/* The channel at run time that has the key and the two ends of @p; or NULL */
static struct channel *key_find(const struct qv_chan_page *p)
{
	struct channel *r;

	FOR_EACH_CHANNEL(r)
		if (r->is.page.key == p->key &&
		    key_names(&r->is.page, p->end[0].name) &&
		    key_names(&r->is.page, p->end[1].name))
			return r;
	return NULL;
}

/* Memory of cell @id without a channel; or NULL */
static struct channel *key_spare(u32 id)
{
	struct channel *r;

	FOR_EACH_CHANNEL(r)
		if (r->owner == id && !r->is.page.ends)
			return r;
	return NULL;
}

static bool key_permitted(const struct qv_mon_create *q, const char *other)
{
	u32 i;

	for (i = 0; i < q->num_with; i++)
		if (channel_same(q->with[i], other, QV_CHAN_NAME_LEN))
			return true;
	return false;
}

/* Returns 0, or why cell @q may not open this */
static s32 key_check(const struct qv_mon_create *q, const struct qv_mon_channel *ask)
{
	const struct qv_chan_page *p = &ask->page;

	if (!channel_ok(q, ask) || !bell_ok(q, ask) || p->ends != 2 || p->length > QV_HUGE ||
	    p->key - 1 >= KEY_END - 1 ||
	    channel_same(p->end[0].name, p->end[1].name, QV_CHAN_NAME_LEN))
		return QV_KEY_MALFORMED;
	return key_permitted(q, p->end[!ask->end].name) ? 0 : QV_KEY_DENIED;
}

/*
 * An end starts. It is absent until its section is clear, since no instance clears it for a channel
 * at run time. @life_page: the channel, in one piece
 */
static void key_start(struct qv_chan_page *life_page, const struct qv_chan_page *p, u32 end)
{
	channel_start_end(life_page, end, QV_CHAN_IS_ABSENT);
	memset((u8 *)life_page + p->end[end].offset, 0, p->end[end].size);
	channel_set_state(&life_page->end[end], QV_CHAN_IS_ABSENT, QV_CHAN_IS_RUNNING);
}

/* The cell has the channel in its window. A page that was not present needs no flush */
static void key_attach(struct pcpu *cpu, u32 id, struct channel *r, u32 window,
		   const struct qv_mon_channel *ask)
{
	struct qv_mon_create *q = slot_request(id);
	struct qv_mon_channel *at = &q->channels[window];
	struct qv_mon_channel *there = &managed()->req.channels[window];
	struct pt_pool pool;
	struct paging nested = cell_paging(&managed()->nested, &pool);
	struct paging host = cell_paging(&managed()->host, &pool);
	struct qv_chan_page *life_page = channel_life_page(&r->is);
	u32 end = ask->end;

	r->ends |= 1u << end;
	*at = r->is;
	at->end = there->end = end;
	atomic_or(&r->users, 1u << id);		/* bells_publish() finds the window from now on */
	key_start(life_page, &r->is.page, end);
	channel_map(&nested, &host, channel_window(q, window), at, window);
	/* first, since this window may have the targets of an earlier channel: cell_bell() */
	bells_set(cpu, r, end, bell_of(q, ask, id));
	/* Pairs with cell_channels_failed(): one of the two sees what the other wrote */
	__atomic_store_n(&there->page.ends, at->page.ends, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&managed_status()->state, __ATOMIC_SEQ_CST) == QV_MON_FAILED)
		channel_set_state(&life_page->end[end], QV_CHAN_IS_RUNNING, QV_CHAN_IS_FAILED);
	mapping_set(QV_VA_SCRUB, 0);
}

/* A channel in memory that was set aside. It may have what Linux left there */
static void key_make(struct pcpu *cpu, struct channel *r, const struct qv_chan_page *page)
{
	channel_fill(cpu, r, &r->is, page);
	channel_clear(&r->is, 0);
	channel_make(r);
}

s32 key_open(struct pcpu *cpu, u32 id, const struct qv_mon_channel *ask)
{
	const struct qv_mon_create *q = slot_request(id);
	u32 window = first_dynamic(q);
	s32 error = key_check(q, ask);
	struct channel *r;

	if (error)
		return error;
	while (window < q->num_channels && q->channels[window].page.ends)
		window++;
	r = key_find(&ask->page);
	if (r && (r->ends >> ask->end & 1 ||
		  !channel_same(&r->is.page, &ask->page, sizeof(ask->page))))
		return QV_KEY_DIFFERS;
	if (!r)
		r = key_spare(id);
	if (!r || window == q->num_channels)
		return QV_KEY_FULL;

	/* ---- nothing below can fail ---- */
	if (!r->is.page.ends)
		key_make(cpu, r, &ask->page);
	key_attach(cpu, id, r, window, ask);
	return window;
}

s32 key_close(struct pcpu *cpu, u32 id, u32 window)
{
	struct qv_mon_create *q = slot_request(id);
	struct qv_mon_channel *at;
	struct channel *r;
	struct pt_pool pool;
	struct paging nested = cell_paging(&managed()->nested, &pool);
	struct paging host = cell_paging(&managed()->host, &pool);
	u64 *entries;
	u32 level, i;

	if (window < first_dynamic(q) || window >= q->num_channels)
		return QV_KEY_NONE;
	at = &q->channels[window];
	if (!at->page.ends)
		return QV_KEY_NONE;
	__atomic_store_n(&managed()->req.channels[window].page.ends, 0, __ATOMIC_SEQ_CST);
	entries = paging_find(&nested, channel_window(q, window), 1, &level);
	for (i = 0; i < PT_ENTRIES; i++)
		__atomic_store_n(&entries[i], 0, __ATOMIC_RELAXED);
	/* The memory stays with the cell until it is destroyed if a CPU may still reach it */
	if (!cell_flush(cpu, q))
		return QV_KEY_STUCK;
	/* A CPU that has seen .page.ends before has left cell_channels_failed() or cell_bell() */
	*paging_find(&host, QV_VA_LIFE + window * QV_PAGE, 1, &level) = 0;
	/* one call is enough: the channel is one piece */
	r = channel_at(at->pa[0]);
	channel_leave(cpu, r, id, at->end);
	at->page.ends = 0;
	bells_set(cpu, r, at->end, 0);
	return window;
}

/* The channel that cell @id has opened with Linux; or NULL */
static struct channel *with_linux(u64 id, u64 key)
{
	struct channel *r;

	FOR_EACH_CHANNEL(r)
		if (r->owner == id && r->is.page.ends && r->is.page.key == key &&
		    channel_linux(r) < QV_CHAN_MAX_ENDS)
			return r;
	return NULL;
}

u64 call_key(struct pcpu *cpu, u64 id, u64 key)
{
	const struct qv_mon_create *q = &managed()->req;
	struct channel *r = with_linux(id, key);
	u32 end, n;

	if (!r)
		return QV_ME_KEY;
	end = channel_linux(r);
	if (r->ends >> end & 1)
		return QV_ME_CHANNEL_DIFFERS;
	for (n = first_dynamic(q); n < q->num_channels && q->channels[n].pa[0] != r->is.pa[0]; n++)
		;
	r->users |= 1;
	r->ends |= 1u << end;
	key_start(channel_life_page(&r->is), &r->is.page, end);
	mapping_set(QV_VA_SCRUB, 0);
	channel_open_to_linux(r, end);
	flush_front_end(cpu);
	return n;
}
