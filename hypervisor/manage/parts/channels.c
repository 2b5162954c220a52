// SPDX-License-Identifier: GPL-2.0-only
/*
 * The part channels: memory that named cells, and perhaps Linux, share (qv/channel.h). A channel is
 * one 2 MiB page of Linux. The first cell that starts takes it, and the last user gives it back.
 * Linux remains a user until the driver says otherwise: call_channel(). The manager writes the life
 * page and clears sections, but reads nothing there.
 */
#include "abi/errors.h"
#include "front/linux_memory.h"
#include "manage/manage.h"
#include "manage/part.h"
#include "manage/request.h"

#define LINUX_NAME	0x78756e696cull		/* "linux", as the first 8 bytes of a name */

static bool same(const void *a, const void *b, u32 len)
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

/* Can the described channel be mapped, and is @q the cell that it names? */
static bool channel_ok(const struct qv_mon_create *q, const struct qv_mon_channel *c)
{
	const struct qv_chan_page *p = &c->page;
	u32 i;

	if (p->ends > QV_CHAN_MAX_ENDS || c->end >= p->ends || p->length > QV_HUGE ||
	    p->length < QV_PAGE || p->length & (QV_PAGE - 1))
		return false;
	for (i = 0; i < p->ends; i++)
		if (!section_ok(p, i))
			return false;
	return same(p->end[c->end].name, q->name, sizeof(q->name));
}

/* The end that Linux has; or none */
static const struct qv_chan_end *linux_end(const struct qv_chan_page *p)
{
	u32 i;

	for (i = 0; i < p->ends; i++)
		if (*(const u64 *)p->end[i].name == LINUX_NAME)
			return &p->end[i];
	return NULL;
}

/* May end @by write the section of @of? */
static bool writes(const struct qv_chan_page *p, const struct qv_chan_end *by, u32 of)
{
	return by == &p->end[of] ||
	       (!of && p->type == QV_CHAN_MEMORY && by->flags & QV_CHAN_END_WRITES);
}

/* Returns the number of the record of the channel at @pa, or QV_MON_CHANNELS without one */
static u32 number_of(const struct instance *inst, u64 pa)
{
	u32 i;

	for (i = 0; i < QV_MON_CHANNELS && inst->manager.channels[i].pa != pa; i++)
		;
	return i;
}

static struct channel *find(u64 pa)
{
	u32 i = number_of(me(), pa);

	return i < QV_MON_CHANNELS ? &me()->manager.channels[i] : NULL;
}

static u64 check(struct pcpu *cpu, const struct instance *inst, const struct qv_mon_create *q)
{
	u32 i, k;

	/* Linux still owns what it writes of a channel */
	for (i = 0; i < QV_MON_CHANNELS; i++)
		if (inst->manager.channels[i].pa &&
		    overlaps(q->window_pa, WINDOW_LEN, inst->manager.channels[i].pa, QV_HUGE))
			return QV_ME_WINDOW;
	if (q->num_channels > QV_MAX_CHANNELS)
		return QV_ME_CHANNEL;
	for (i = 0; i < q->num_channels; i++) {
		u64 pa = q->channels[i].pa;

		if (!pa || pa & (QV_HUGE - 1) || !channel_ok(q, &q->channels[i]))
			return QV_ME_CHANNEL;
		if (pa == q->block_pa || overlaps(pa, QV_HUGE, q->window_pa, WINDOW_LEN))
			return QV_ME_MEMORY;
		for (k = 0; k < q->num_runs; k++)
			if (overlaps(pa, QV_HUGE, q->runs[k].pa, q->runs[k].count * QV_HUGE))
				return QV_ME_MEMORY;
		for (k = 0; k < i; k++)
			if (pa == q->channels[k].pa)
				return QV_ME_CHANNEL;
		if (number_of(inst, pa) == QV_MON_CHANNELS &&
		    !request_pages_ok(inst, pa, QV_HUGE, 2))
			return QV_ME_MEMORY;
	}
	return QV_ME_OK;
}

static u64 tables(const struct qv_mon_create *q)
{
	return q->num_channels ? q->num_channels + 1 : 0;
}

static u64 prepare(struct pcpu *cpu, const struct instance *inst, const struct qv_mon_create *q)
{
	u32 i;

	for (i = 0; i < q->num_channels; i++)
		if (front_prepare(&inst->nested, q->channels[i].pa, QV_HUGE))
			return QV_ME_TABLES;
	return QV_ME_OK;
}

/* The instance sees the life page, too, to say that its cell has failed */
static int map_one(struct instance *cell, const struct qv_mon_channel *c, u32 i)
{
	const struct qv_chan_page *p = &c->page;
	u64 gpa = QV_CHANNEL_GPA + i * (u64)QV_CHANNEL_LEN;
	struct paging *n = &cell->nested;
	u32 k;
	u64 read = NESTED_R | NESTED_WB, at;
	int bad = paging_map(n, gpa, c->pa, QV_PAGE, nested_bits(n, read));

	bad |= paging_map(&cell->host, QV_VA_LIFE + i * QV_PAGE, c->pa, QV_PAGE,
			  PT_P | PT_W | PT_NX);
	for (k = 0; k < p->ends; k++) {
		at = p->end[k].offset;
		bad |= paging_map(n, gpa + at, c->pa + at, p->end[k].size,
				  nested_bits(n, writes(p, &p->end[c->end], k) ? read | NESTED_W :
										 read));
	}
	return bad;
}

static u64 map(struct pcpu *cpu, const struct instance *inst, const struct qv_mon_create *q)
{
	int bad = 0;
	u32 i;

	for (i = 0; i < q->num_channels; i++)
		bad |= map_one(managed(), &q->channels[i], i);
	return bad ? QV_ME_TABLES : QV_ME_OK;
}

static void keep(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	slot->detached = 0;
}

/* Counts free records up to @need, and gives them tables */
static u64 records(u32 need)
{
	u32 i;

	for (i = 0; i < QV_MON_CHANNELS && need; i++) {
		struct channel *r = &me()->manager.channels[i];

		if (r->pa)
			continue;
		need--;
		if (!r->table)
			r->table = pool_take(&me()->pool);
		if (!r->table)
			return QV_ME_TABLES;
	}
	return need ? QV_ME_CHANNEL_SLOTS : QV_ME_OK;
}

static u64 still_ours(struct pcpu *cpu, const struct instance *inst, const struct qv_mon_create *q)
{
	u32 i, need = 0;

	for (i = 0; i < q->num_channels; i++) {
		const struct qv_mon_channel *c = &q->channels[i];
		const struct channel *r = find(c->pa);

		if (r && (r->ends >> c->end & 1 || !same(&r->page, &c->page, sizeof(c->page))))
			return QV_ME_CHANNEL_DIFFERS;
		if (!r && (!request_pages_ok(inst, c->pa, QV_HUGE, 2) ||
			   request_meets_window(inst, c->pa, QV_HUGE)))
			return QV_ME_MEMORY;
		need += !r;
	}
	return records(need);
}

static void take(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	struct channel *r;
	u32 i;

	for (i = 0; i < q->num_channels; i++) {
		if (find(q->channels[i].pa))
			continue;
		r = find(0);
		r->pa = q->channels[i].pa;
		r->page = q->channels[i].page;
		linux_memory(r->pa, QV_HUGE, LINUX_NONE);
	}
}

static void give_back(struct channel *r)
{
	linux_memory(r->pa, QV_HUGE, LINUX_ALL);
	r->pa = 0;
}

static void untake(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	u32 i;

	for (i = 0; i < q->num_channels; i++)
		if (!find(q->channels[i].pa)->users)
			give_back(find(q->channels[i].pa));
}

/* The channel's memory, as long as the window shows it */
static struct qv_chan_page *show(u64 pa)
{
	manage(QV_VA_SCRUB, pa);
	return (struct qv_chan_page *)QV_VA_SCRUB;
}

/* A life word ends with the state, as a byte. Its other bytes are not changed */
static void set_state(struct qv_chan_end *end, u8 from, u8 to)
{
	__atomic_compare_exchange_n((u8 *)&end->life, &from, to, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
}

/*
 * An end starts. Its section is cleared under the new generation, before the end runs. @clean: it
 * is clear already, since the channel is new
 */
static void start_end(struct qv_chan_page *life, const struct qv_chan_page *p, u32 end, bool clean)
{
	u64 generation = ++me()->manager.generation;

	__atomic_store_n(&life->end[end].life, QV_CHAN_LIFE(generation, QV_CHAN_IS_STOPPED),
			 __ATOMIC_SEQ_CST);
	if (!clean)
		memset((u8 *)life + p->end[end].offset, 0, p->end[end].size);
	set_state(&life->end[end], QV_CHAN_IS_STOPPED, QV_CHAN_IS_RUNNING);
}

/* Linux may read all, and write its own section. The rest of the 2 MiB stays a hole */
static void open_to_linux(const struct channel *r, const struct qv_chan_end *own)
{
	const struct qv_chan_page *p = &r->page;
	u32 i;

	front_split(&me()->nested, r->pa, r->table);
	linux_memory(r->pa, QV_PAGE, LINUX_READ);
	for (i = 0; i < p->ends; i++)
		linux_memory(r->pa + p->end[i].offset, p->end[i].size,
			     writes(p, own, i) ? LINUX_ALL : LINUX_READ);
}

/* Returns true if Linux has an end */
static bool make(struct channel *r)
{
	const struct qv_chan_end *own = linux_end(&r->page);
	struct qv_chan_page *life = show(r->pa);
	u32 i;

	memset(life, 0, r->page.length);
	*life = r->page;
	life->session = ++me()->manager.generation;
	for (i = 0; i < QV_CHAN_MAX_ENDS; i++)
		life->end[i].life = 0;
	if (!own)
		return false;
	r->users = 1;
	start_end(life, &r->page, own - r->page.end, true);
	open_to_linux(r, own);
	return true;
}

static void begin(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	bool opened = false;
	u32 i;

	for (i = 0; i < q->num_channels; i++) {
		const struct qv_mon_channel *c = &q->channels[i];
		struct channel *r = find(c->pa);
		bool new = !r->users;

		if (new)
			opened |= make(r);
		r->users |= 1u << (slot - me()->manager.cells);
		r->ends |= 1u << c->end;
		start_end(show(r->pa), &r->page, c->end, new);
	}
	manage(QV_VA_SCRUB, 0);
	/* a CPU of Linux that touched the hole may have cached a translation to the dummy page */
	if (opened)
		flush_front_end(cpu);
}

static void stop(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	u32 i;

	for (i = 0; i < q->num_channels; i++)
		set_state(&show(q->channels[i].pa)->end[q->channels[i].end], QV_CHAN_IS_RUNNING,
			  QV_CHAN_IS_STOPPED);
	manage(QV_VA_SCRUB, 0);
}

/* The last user has gone */
static void drop(struct channel *r)
{
	memset(show(r->pa), 0, r->page.length);
	manage(QV_VA_SCRUB, 0);
	r->users = r->ends = 0;
	give_back(r);
}

static bool clear(struct cell_slot *slot, const struct qv_mon_create *q)
{
	const struct qv_mon_channel *c = &q->channels[slot->detached];
	struct channel *r;

	if (slot->detached >= q->num_channels)
		return false;
	slot->detached++;
	r = find(c->pa);
	r->users &= ~(1u << (slot - me()->manager.cells));
	if (r->page.flags & QV_CHAN_RECONNECT)	/* else no cell has this end again: drop() */
		r->ends &= ~(1u << c->end);
	*(volatile u8 *)&show(r->pa)->end[c->end].life = QV_CHAN_IS_ABSENT;
	manage(QV_VA_SCRUB, 0);
	if (!r->users)
		drop(r);
	return true;
}

u64 call_channel(struct pcpu *cpu, u64 pa, u64 unused)
{
	struct channel *r = pa ? find(pa) : NULL;

	if (!r)
		return QV_ME_OK;
	if (r->users != 1)
		return QV_ME_STATE;
	drop(r);
	flush_front_end(cpu);
	return QV_ME_OK;
}

const struct part part_channels = {
	.try = {
		[PART_CHECK]		= check,
		[PART_PREPARE]		= prepare,
		[PART_MAP]		= map,
		[PART_STILL_OURS]	= still_ours,
	},
	.act = {
		[PART_KEEP]		= keep,
		[PART_TAKE]		= take,
		[PART_UNTAKE]		= untake,
		[PART_BEGIN]		= begin,
		[PART_STOP]		= stop,
	},
	.tables = tables,
	.clear = clear,
};
