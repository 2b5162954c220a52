// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bells of channels. A cell rings without the manager: its instance has the targets of the other
 * ends in its own block (cell/channels.c). They are written here. A lock of their own orders all
 * changes, since Linux moves its interrupts while another management call is under way.
 */
#include "abi/errors.h"
#include "core/apic.h"
#include "core/gmem.h"
#include "manage.h"

#define LINUX_NAME	0x78756e696cull		/* "linux", as the first 8 bytes of a name */
#define PATIENCE	10000000	/* number of loops; the other CPU takes far fewer */

struct channel *channel_at(u64 pa)
{
	u32 i;

	for (i = 0; i < QV_MON_CHANNELS; i++)
		if (me()->manager.channels[i].is.pa[0] == pa)
			return &me()->manager.channels[i];
	return NULL;
}

static struct channel *named(u64 pa)
{
	return pa ? channel_at(pa) : NULL;
}

u32 channel_linux(const struct channel *r)
{
	const struct qv_chan_page *p = &r->is.page;
	u32 i;

	for (i = 0; i < p->ends; i++)
		if (*(const u64 *)p->end[i].name == LINUX_NAME)
			return i;
	return QV_CHAN_MAX_ENDS;
}

static u8 vector_of(u64 bell)
{
	return bell;
}

static u8 instance_of(u64 bell)
{
	return bell >> 8;
}

static void lock(void)
{
	u32 patience = PATIENCE;

	while (atomic_swap(&me()->manager.bells_busy, 1) && --patience)
		pause();
}

static void unlock(void)
{
	__atomic_store_n(&me()->manager.bells_busy, 0, __ATOMIC_RELEASE);
}

static void send(u64 bell)
{
	if (bell)
		apic_send(1 << 14 | vector_of(bell), bell >> 32);
}

/* Waits while a cell's CPU uses a target that it loaded before. Pairs with ring() of the cell */
static void settle(const u32 *rings)
{
	u32 seen = load(rings), patience = PATIENCE;

	while (seen & 1 && load(rings) == seen && --patience)
		pause();
}

/* Gives each cell of the channel the targets. Then no CPU of a cell rings an older one */
static void publish(struct pcpu *cpu, const struct channel *r)
{
	u32 id, i, end;

	for (id = 1; id < QV_INSTANCES; id++) {
		const struct qv_mon_create *q = slot_request(id);
		struct bells *b;

		if (!(r->users >> id & 1))
			continue;
		b = window_map(cpu, me()->manager.cells[id].block_pa + QV_OFF_INSTANCE +
			       __builtin_offsetof(struct instance, bells), PT_W);
		for (i = 0; q->channels[i].pa[0] != r->is.pa[0]; i++)
			;
		for (end = 0; end < QV_CHAN_MAX_ENDS; end++)
			__atomic_store_n(&b->target[i][end],
					 end == q->channels[i].end ? 0 : r->bell[end],
					 __ATOMIC_SEQ_CST);
		for (i = 0; i < q->num_cpus; i++)
			settle(&b->rings[i]);
	}
	window_map(cpu, me()->boot.block_pa, 0);	/* no longer shows a block of a cell */
}

void bells_set(struct pcpu *cpu, struct channel *r, u32 end, u64 target)
{
	u32 i;

	lock();
	r->bell[end] = target;
	publish(cpu, r);
	for (i = 0; i < QV_CHAN_MAX_ENDS; i++)
		if (i != end)
			send(r->bell[i]);
	unlock();
}

void bells_leave(struct channel *r, u32 id)
{
	lock();
	r->users &= ~(1u << id);
	unlock();
}

void bells_take(struct channel *r, const struct qv_mon_channel *c)
{
	lock();			/* call_bell() finds all of it or nothing */
	r->is = *c;
	unlock();
}

void bells_end(struct channel *r)
{
	lock();
	memset(r->bell, 0, sizeof(r->bell));
	r->is.pa[0] = 0;
	unlock();
}

void bells_shut(struct pcpu *cpu, u64 cpus)
{
	struct channel *r = me()->manager.channels;
	u32 end;

	lock();
	for (; r < me()->manager.channels + QV_MON_CHANNELS; r++) {
		end = channel_linux(r);
		if (end == QV_CHAN_MAX_ENDS || !r->bell[end] ||
		    !(cpus >> (r->bell[end] >> 16 & 0xff) & 1))
			continue;
		r->bell[end] = 0;
		publish(cpu, r);
	}
	unlock();
}

u64 call_bell(struct pcpu *cpu, u64 target, u64 unused)
{
	u32 vector = vector_of(target), index = target >> 56, end;
	u64 result = QV_ME_BELL, bell = 0;
	struct channel *r;

	lock();
	r = named(target & PT_ADDR);
	end = r ? channel_linux(r) : QV_CHAN_MAX_ENDS;
	if (vector >= 32 && index < me()->icr.num && me()->icr.own >> index & 1)
		bell = BELL(pcpu_of(index)->apic_id, index, 0, vector);
	if (end < QV_CHAN_MAX_ENDS && (bell || !vector)) {
		r->bell[end] = bell;
		publish(cpu, r);
		send(bell);
		result = QV_ME_OK;
	}
	unlock();
	return result;
}

/* Rings all cells of the channel, or none */
static u64 ring(const struct channel *r)
{
	struct cell_slot *slot = me()->manager.cells;
	u64 now = rdtsc();
	u32 i;

	for (i = 0; i < QV_CHAN_MAX_ENDS; i++)
		if (instance_of(r->bell[i]) && bell_too_soon(&slot[instance_of(r->bell[i])], now))
			return QV_ME_RATE;
	for (i = 0; i < QV_CHAN_MAX_ENDS; i++)
		if (instance_of(r->bell[i])) {
			slot[instance_of(r->bell[i])].bell_tsc = now;
			send(r->bell[i]);
		}
	return QV_ME_OK;
}

u64 call_ring(struct pcpu *cpu, u64 pa, u64 unused)
{
	const struct channel *r;
	u64 result = QV_ME_BELL;

	lock();
	r = named(pa);
	if (r && channel_linux(r) < QV_CHAN_MAX_ENDS)
		result = ring(r);
	unlock();
	return result;
}
