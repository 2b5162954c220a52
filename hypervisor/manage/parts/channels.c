// SPDX-License-Identifier: GPL-2.0-only
/*
 * The part channels: memory that named cells, and perhaps Linux, share (qv/channel.h). Each has
 * pages of 2 MiB for itself: channel_memory.c. The first cell that starts takes it, and the last
 * user gives it back. Linux remains a user until the driver says otherwise: call_channel(). The
 * manager writes the life page, but reads nothing in a channel. The instance of a cell clears the
 * sections of that cell.
 *
 * A cell may also set 2 MiB pages aside for channels at run time (channel_keys.c). It owns them
 * while it runs. slot_request() then has, at each of its windows, the channel that is there now.
 */
#include "manage/part.h"
#include "manage/request.h"
#include "channel_memory.h"
#include "channels.h"

bool channel_same(const void *a, const void *b, u32 len)
{
	const u64 *x = a, *y = b;

	for (; len && *x == *y; x++, y++, len -= 8)
		;
	return !len;
}

static bool section_ok(const struct qv_chan_page *p, u32 i)
{
	const struct qv_chan_end *e = &p->end[i];
	u32 k;

	if (!e->size)
		return true;
	if ((e->offset | e->size) & (QV_PAGE - 1) || e->offset < QV_PAGE || e->offset > p->length ||
	    e->size > p->length - e->offset)
		return false;
	for (k = 0; k < i; k++)
		if (overlaps(e->offset, e->size, p->end[k].offset, p->end[k].size))
			return false;
	return true;
}

bool channel_ok(const struct qv_mon_create *q, const struct qv_mon_channel *c)
{
	const struct qv_chan_page *p = &c->page;
	u32 i;

	if (p->ends > QV_CHAN_MAX_ENDS || c->end >= p->ends ||
	    p->length > QV_CHANNEL_LEN || p->length < QV_PAGE || p->length & (QV_PAGE - 1))
		return false;
	for (i = 0; i < p->ends; i++)
		if (!section_ok(p, i))
			return false;
	return channel_same(p->end[c->end].name, q->name, sizeof(q->name));
}

/* True if entry @i of the request is a channel, or 2 MiB for a channel at run time */
static bool entry_ok(const struct qv_mon_create *q, u32 i)
{
	const struct qv_mon_channel *c = &q->channels[i];

	if (i < first_dynamic(q))
		return channel_ok(q, c) && !c->page.key;
	return !c->page.ends && !c->page.key && !c->bell_vector && c->page.length == QV_HUGE;
}

bool bell_ok(const struct qv_mon_create *q, const struct qv_mon_channel *c)
{
	return !c->bell_vector || (c->bell_vector >= 32 && c->bell_vector < 256 &&
				   c->bell_cpu < q->num_cpus);
}

/* Returns true if end @by may write the section of @of */
static bool writes(const struct qv_chan_page *p, const struct qv_chan_end *by, u32 of)
{
	return by == &p->end[of] ||
	       (!of && p->type == QV_CHAN_MEMORY && by->flags & QV_CHAN_END_WRITES);
}

/* Returns true if a record has the channel @c, as @c describes it */
static bool agrees(const struct channel *r, const struct qv_mon_channel *c)
{
	return channel_same(&r->is.page, &c->page, sizeof(c->page)) &&
	       channel_same(r->is.pa, c->pa, sizeof(c->pa));
}

/* Returns the number of pages at @pa that the request has for channels */
static u32 listed(const struct qv_mon_create *q, u64 pa)
{
	u32 i, k, found = 0;

	for (i = 0; i < q->num_channels; i++)
		for (k = 0; k < qv_mon_channel_pages(&q->channels[i]); k++)
			found += q->channels[i].pa[k] == pa;
	return found;
}

/* Checks that no page of a channel is malformed, or used otherwise in the request */
static bool misplaced(const struct qv_mon_create *q, u64 pa)
{
	u32 i;

	for (i = 0; i < q->num_runs; i++)
		if (overlaps(pa, QV_HUGE, q->runs[i].pa, q->runs[i].count * QV_HUGE))
			return true;
	return !pa || pa & (QV_HUGE - 1) || listed(q, pa) != 1 || pa == q->block_pa ||
	       overlaps(pa, QV_HUGE, q->console_pa, QV_CONSOLE_LEN);
}

/* Checks that the channel is there, as @c describes it, or else that Linux owns all its pages */
static u64 check_place(const struct instance *inst, const struct qv_mon_create *q,
		       const struct qv_mon_channel *c)
{
	const struct channel *r = channel_at(c->pa[0]);
	u32 k;

	for (k = 0; k < qv_mon_channel_pages(c); k++)
		if (misplaced(q, c->pa[k]) || (!r && !request_takable(inst, c->pa[k], QV_HUGE)))
			return QV_ME_MEMORY;
	return !r || agrees(r, c) ? QV_ME_OK : QV_ME_CHANNEL_DIFFERS;
}

/* Returns where the channel that follows @c begins in the cell's memory, if @c begins at @gpa */
static u64 after(u64 gpa, const struct qv_mon_channel *c)
{
	return (gpa + c->page.length + QV_CHANNEL_STEP - 1) & ~(QV_CHANNEL_STEP - 1ull);
}

static u64 check(struct pcpu *cpu, const struct instance *inst, const struct qv_mon_create *q)
{
	u64 gpa = QV_CHANNEL_GPA, error = QV_ME_OK;
	u32 i;

	if (q->num_channels > QV_MAX_CHANNELS || q->num_dynamic > q->num_channels ||
	    q->num_with > QV_MAX_WITH)
		return QV_ME_CHANNEL;
	for (i = 0; i < q->num_channels; i++) {
		if (!entry_ok(q, i))
			return QV_ME_CHANNEL;
		if (!bell_ok(q, &q->channels[i]))
			return QV_ME_BELL;
		gpa = after(gpa, &q->channels[i]);
	}
	if (gpa > QV_CHANNEL_GPA + (u64)QV_CHANNEL_LEN)
		return QV_ME_CHANNEL;
	for (i = 0; i < q->num_channels && !error; i++)
		error = check_place(inst, q, &q->channels[i]);
	return error;
}

static u64 tables(const struct qv_mon_create *q)
{
	return q->num_channels ? QV_CHANNEL_LEN / QV_HUGE + 1 : 0;
}

static u64 prepare(struct pcpu *cpu, const struct instance *inst, const struct qv_mon_create *q)
{
	u32 i, k;

	for (i = 0; i < q->num_channels; i++)
		for (k = 0; k < qv_mon_channel_pages(&q->channels[i]); k++)
			if (front_prepare(&inst->nested, q->channels[i].pa[k], QV_HUGE))
				return QV_ME_TABLES;
	return QV_ME_OK;
}

/* Maps @len bytes of the channel from @at on, each page by itself: its memory may be scattered */
static int map_pages(const struct paging *n, u64 gpa, const struct qv_mon_channel *c, u64 at,
		     u64 len, u64 what)
{
	int bad = 0;
	u64 end;

	for (end = at + len; at < end; at += QV_PAGE)
		bad |= paging_map(n, gpa + at, qv_mon_channel_at(c, at), QV_PAGE,
				  nested_bits(n, what | NESTED_R | NESTED_WB));
	return bad;
}

/* The instance sees the life page, too, to say that its cell runs or has failed */
int channel_map(const struct paging *nested, const struct paging *host, u64 gpa,
		const struct qv_mon_channel *c, u32 i)
{
	const struct qv_chan_page *p = &c->page;
	u32 k;
	int bad = map_pages(nested, gpa, c, 0, QV_PAGE, 0);

	bad |= paging_map(host, QV_VA_LIFE + i * QV_PAGE, c->pa[0], QV_PAGE, PT_P | PT_W | PT_NX);
	for (k = 0; k < p->ends; k++)
		bad |= map_pages(nested, gpa, c, p->end[k].offset, p->end[k].size,
				 writes(p, &p->end[c->end], k) ? NESTED_W : 0);
	return bad;
}

/* A window for a channel at run time has its tables from the start on */
static u64 map(struct pcpu *cpu, const struct instance *inst, const struct qv_mon_create *q)
{
	const struct paging *nested = &managed()->nested, *host = &managed()->host;
	u64 gpa = QV_CHANNEL_GPA;
	int bad = 0;
	u32 i;

	for (i = 0; i < first_dynamic(q); i++) {
		bad |= channel_map(nested, host, gpa, &q->channels[i], i);
		gpa = after(gpa, &q->channels[i]);
	}
	for (; i < q->num_channels; i++)
		bad |= !paging_entry(nested, channel_window(q, i), 1) ||
		       !paging_entry(host, QV_VA_LIFE + i * QV_PAGE, 1);
	return bad ? QV_ME_TABLES : QV_ME_OK;
}

static u64 still_ours(struct pcpu *cpu, const struct instance *inst, const struct qv_mon_create *q)
{
	const struct channel *r;
	u32 i, pages = 0;

	FOR_EACH_CHANNEL(r)
		pages += qv_mon_channel_pages(&r->is);
	for (i = 0; i < q->num_channels; i++) {
		const struct qv_mon_channel *c = &q->channels[i];
		u64 error = check_place(inst, q, c);

		r = channel_at(c->pa[0]);
		if (error)
			return error;
		/* .users is 0 if a fault has ended the call that made or gave up the record */
		if (r && (!r->users || i >= first_dynamic(q) || r->cleared ||
			  r->ends >> c->end & 1))
			return QV_ME_CHANNEL_DIFFERS;
		pages += r ? 0 : qv_mon_channel_pages(c);
	}
	return channel_tables(pages);
}

/* Each channel has a page, and there are as many records as pages. So a record is free */
static void take(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	struct channel *r;
	u32 i;

	for (i = 0; i < q->num_channels; i++) {
		if (channel_at(q->channels[i].pa[0]))
			continue;
		for (r = me()->manager.channels; r->is.pa[0]; r++)
			;
		channel_set(&q->channels[i], LINUX_NONE);
		channel_fill(cpu, r, &q->channels[i], &q->channels[i].page);
	}
}

/* Linux's CPUs flush before Linux learns that it owns the pages again */
static void give_back(struct pcpu *cpu, struct channel *r)
{
	channel_hide(r);
	channel_set(&r->is, LINUX_ALL);
	channel_empty(cpu, r, 0);
}

static void untake(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	u32 i;

	for (i = 0; i < q->num_channels; i++)
		if (!channel_at(q->channels[i].pa[0])->users)
			give_back(cpu, channel_at(q->channels[i].pa[0]));
}

/* A life word ends with the state, as a byte. Its other bytes are not changed */
void channel_set_state(struct qv_chan_end *end, u8 from, u8 to)
{
	__atomic_compare_exchange_n((u8 *)&end->life, &from, to, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
}

void channel_start_end(struct qv_chan_page *life_page, u32 end, u8 state)
{
	__atomic_store_n(&life_page->end[end].life, QV_CHAN_LIFE(++me()->manager.generation, state),
			 __ATOMIC_SEQ_CST);
}

void channel_open_to_linux(struct channel *r, u32 end)
{
	const struct qv_chan_page *p = &r->is.page;
	u32 i;

	channel_split(r);
	channel_show(&r->is, 0, QV_PAGE, LINUX_READ);
	for (i = 0; i < p->ends; i++)
		channel_show(&r->is, p->end[i].offset, p->end[i].size,
			     writes(p, &p->end[end], i) ? LINUX_SHARE : LINUX_READ);
}

struct qv_chan_page *channel_make(struct channel *r)
{
	struct qv_chan_page *life_page = channel_life_page(&r->is);
	u32 i;

	memset(life_page, 0, QV_PAGE);
	*life_page = r->is.page;
	life_page->session = ++me()->manager.generation;
	for (i = 0; i < QV_CHAN_MAX_ENDS; i++)
		life_page->end[i].life = 0;
	return life_page;
}

/*
 * A new channel. Sections have what Linux left there, until their ends start: the life words of
 * these ends are 0. Returns true if Linux has an end
 */
static bool make(struct channel *r)
{
	u32 own = channel_linux(r);
	struct qv_chan_page *life_page = channel_make(r);

	if (own == QV_CHAN_MAX_ENDS)
		return false;
	r->users = 1;
	channel_start_end(life_page, own, QV_CHAN_IS_RUNNING);
	channel_open_to_linux(r, own);
	return true;
}

u64 bell_of(const struct qv_mon_create *q, const struct qv_mon_channel *c, u32 id)
{
	return c->bell_vector ? BELL(pcpu_of(q->cpus[c->bell_cpu])->apic_id, 0, id,
				     c->bell_vector) : 0;
}

/* The running cell owns the memory that it has set aside */
static void begin_dynamic(u32 id, const struct qv_mon_create *q)
{
	u32 i;

	me()->manager.cells[id].post_next = 0;
	for (i = first_dynamic(q); i < q->num_channels; i++) {
		channel_at(q->channels[i].pa[0])->owner = id;
		me()->manager.dynamic |= 1u << id;
	}
}

/* The cell's instance clears the cell's section and then says that it runs: cell/channels.c */
static void begin(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	u32 i, id = slot - me()->manager.cells;
	bool opened = false;

	begin_dynamic(id, q);
	for (i = 0; i < first_dynamic(q); i++) {
		const struct qv_mon_channel *c = &q->channels[i];
		struct channel *r = channel_at(c->pa[0]);

		if (!r->users)
			opened |= make(r);
		r->users |= 1u << id;
		r->ends |= 1u << c->end;
		channel_start_end(channel_life_page(c), c->end, QV_CHAN_IS_ABSENT);
		bells_set(cpu, r, c->end, bell_of(q, c, id));
	}
	posts_retarget(cpu);
	mapping_set(QV_VA_SCRUB, 0);
	/* a CPU of Linux that touched the hole may have cached a translation to the dummy page */
	if (opened)
		flush_front_end(cpu);
}

static void stop(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	u32 i;

	posts_end(slot - me()->manager.cells);
	for (i = 0; i < q->num_channels; i++) {
		const struct qv_mon_channel *c = &q->channels[i];

		if (!c->page.ends)	/* no channel is in this window */
			continue;
		channel_set_state(&channel_life_page(c)->end[c->end], QV_CHAN_IS_RUNNING,
				  QV_CHAN_IS_STOPPED);
		/* shut before the CPUs of the cell are Linux's again */
		bells_set(cpu, channel_at(c->pa[0]), c->end, 0);
	}
	mapping_set(QV_VA_SCRUB, 0);
}

/*
 * The last user goes. Clears a page, so that no call holds its CPU for long. Returns true if all is
 * clear and given back. Until then no cell can start with the channel: still_ours(). A channel at
 * run time has one page.
 */
static bool drop(struct pcpu *cpu, struct channel *r)
{
	channel_clear(&r->is, r->cleared);
	if (++r->cleared < qv_mon_channel_pages(&r->is))
		return false;
	r->users = r->ends = r->cleared = 0;
	if (r->owner)
		channel_empty(cpu, r, r->is.pa[0]);	/* the cell may open another one there */
	else
		give_back(cpu, r);
	return true;
}

bool channel_leave(struct pcpu *cpu, struct channel *r, u32 id, u32 end)
{
	if (r->users == 1u << id)
		return drop(cpu, r);
	/* no longer rings this channel: its block may be given up */
	channels_lock(cpu);
	r->users &= ~(1u << id);
	lock_drop(LOCK_CHANNELS);
	/* else no cell has this end again: drop() */
	if (r->is.page.flags & QV_CHAN_RECONNECT)
		r->ends &= ~(1u << end);
	*(volatile u8 *)&channel_life_page(&r->is)->end[end].life = QV_CHAN_IS_ABSENT;
	mapping_set(QV_VA_SCRUB, 0);
	return true;
}

/* The cell ends. A page that another end still uses is given back when that end leaves */
static void disown(struct pcpu *cpu, u32 id)
{
	struct channel *r;

	FOR_EACH_CHANNEL(r) {
		if (r->owner != id)
			continue;
		r->owner = 0;
		if (!r->users)
			give_back(cpu, r);
	}
}

/* Gives up a piece of a channel. When no channel is left, also the memory that was set aside */
static bool clear(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	u32 id = slot - me()->manager.cells;
	const struct qv_mon_channel *c;

	for (; slot->detached < q->num_channels; slot->detached++) {
		c = &q->channels[slot->detached];
		if (!c->page.ends)
			continue;
		slot->detached += channel_leave(cpu, channel_at(c->pa[0]), id, c->end);
		return true;
	}
	disown(cpu, id);
	return false;
}

/* Returns 1 as long as there is more to clear */
u64 call_channel(struct pcpu *cpu, u64 pa, u64 unused)
{
	struct channel *r = channel_at(pa);

	if (r && (!(r->users & 1) || (r->users != 1 && !r->is.page.key)))
		return QV_ME_STATE;
	if (r && r->is.page.key) {	/* a cell may keep it, or its memory */
		channel_hide(r);
		if (!flush_front_end(cpu))
			return QV_ME_CPU_STUCK;		/* Linux may call again */
	}
	if (r && !channel_leave(cpu, r, 0, channel_linux(r)))
		return 1;
	/* Also if a cell was its last user, whose close does not wait for Linux's CPUs */
	flush_front_end(cpu);
	return QV_ME_OK;
}

const struct part part_channels = {
	.try[PART_CHECK] = check,
	.try[PART_PREPARE] = prepare,
	.try[PART_MAP] = map,
	.try[PART_STILL_OURS] = still_ours,
	.act[PART_TAKE] = take,
	.act[PART_UNTAKE] = untake,
	.act[PART_BEGIN] = begin,
	.act[PART_STOP] = stop,
	.tables = tables,
	.clear = clear,
};
