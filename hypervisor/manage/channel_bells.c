// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bells of channels, and the CPU that gets the NMIs for requests of cells. A cell rings without the
 * manager: its instance has the targets of the other ends in its own block (cell/channels.c). They
 * are written here, with the lock of records, since Linux moves its interrupts while another
 * management call is under way.
 */
#include "core/apic.h"
#include "core/gmem.h"
#include "manage.h"

static u8 instance_of(u64 bell)
{
	return bell >> 8;
}

/*
 * Waits while a CPU of cell @id uses targets that it loaded before: pairs with targets_toggle().
 * Such a CPU makes a bounded number of steps in the monitor, where nothing interrupts it. If it
 * faults there, monitor_fault() ends its use. A CPU that uses them for longer than any CPU may take
 * to answer executes nothing more.
 */
static void bells_settle(const struct bells *b, u32 id)
{
	u64 start = rdtsc(), longest = (u64)me()->boot.tsc_khz * ACK_DEADLINE_MS;
	u32 i, seen;

	for (i = 0; i < slot_request(id)->num_cpus; i++)
		for (seen = load(&b->uses[i]); seen & 1 && load(&b->uses[i]) == seen &&
		     rdtsc() - start < longest;)
			pause();
}

/* Gives each cell of the channel the targets. Then no CPU of a cell rings an older one */
static void bells_publish(struct pcpu *cpu, const struct channel *r)
{
	u32 id, i, end;

	for (id = 1; id < QV_INSTANCES; id++) {
		const struct qv_mon_create *q = slot_request(id);
		struct bells *b;

		if (!(r->users >> id & 1))
			continue;
		b = gmem_map(cpu, me()->manager.cells[id].block_pa + QV_OFF_INSTANCE +
			       __builtin_offsetof(struct instance, bells), PT_W);
		/* memory that was set aside for a channel at run time may be listed twice */
		for (i = 0; q->channels[i].pa[0] != r->is.pa[0] || !q->channels[i].page.ends; i++)
			;
		for (end = 0; end < QV_CHAN_MAX_ENDS; end++)
			__atomic_store_n(&b->target[i][end],
					 end == q->channels[i].end ? 0 : r->bell[end],
					 __ATOMIC_SEQ_CST);
		bells_settle(b, id);
	}
	gmem_map(cpu, me()->boot.block_pa, 0);	/* no longer shows a block of a cell */
}

/* Takes the turn of Linux and the manager to send the bell. Returns false if it is too soon */
static bool bell_linux_turn(u64 bell, bool wait)
{
	u32 id = instance_of(bell);

	return !id || !bell_turn(&me()->manager.cells[id].bell_next, slot_request(id)->bell_rate,
				 wait);
}

void bells_set(struct pcpu *cpu, struct channel *r, u32 end, u64 target)
{
	u32 i;

	channels_lock(cpu);
	r->bell[end] = target;
	bells_publish(cpu, r);
	lock_drop(LOCK_CHANNELS);
	for (i = 0; i < QV_CHAN_MAX_ENDS; i++) {
		/* without the lock: the manager alone changes bells of cells */
		if (i == end || !bell_linux_turn(r->bell[i], true))
			continue;
		channels_lock(cpu);
		bell_send(r->bell[i]);
		lock_drop(LOCK_CHANNELS);
	}
}

void bells_shut(struct pcpu *cpu, u64 cpus)
{
	struct channel *r;
	u32 end;

	channels_lock(cpu);
	FOR_EACH_CHANNEL(r) {
		end = channel_linux(r);
		if (end == QV_CHAN_MAX_ENDS || !r->bell[end] ||
		    !(cpus >> (r->bell[end] >> 16 & 0xff) & 1))
			continue;
		r->bell[end] = 0;
		bells_publish(cpu, r);
	}
	lock_drop(LOCK_CHANNELS);
}

u64 call_bell(struct pcpu *cpu, u64 target, u64 unused)
{
	u32 vector = (u8)target, index = target >> 56, end;
	u64 result = QV_ME_BELL, bell = 0;
	struct channel *r;

	channels_lock(cpu);
	r = channel_at(target & PT_ADDR);
	end = r ? channel_linux(r) : QV_CHAN_MAX_ENDS;
	if (vector >= 32 && index < me()->icr.num && me()->icr.own_cpus >> index & 1)
		bell = BELL(pcpu_of(index)->apic_id, index, 0, vector);
	if (end < QV_CHAN_MAX_ENDS && (bell || !vector)) {
		r->bell[end] = bell;
		bells_publish(cpu, r);
		bell_send(bell);
		result = QV_ME_OK;
	}
	lock_drop(LOCK_CHANNELS);
	return result;
}

/* Rings each cell of the channel whose turn it is */
static u64 channel_ring(const struct channel *r)
{
	u64 result = QV_ME_OK;
	u32 i;

	for (i = 0; i < QV_CHAN_MAX_ENDS; i++)
		if (instance_of(r->bell[i])) {
			if (bell_linux_turn(r->bell[i], false))
				bell_send(r->bell[i]);
			else
				result = QV_ME_RATE;
		}
	return result;
}

u64 call_ring(struct pcpu *cpu, u64 pa, u64 unused)
{
	const struct channel *r;
	u64 result = QV_ME_BELL;

	channels_lock(cpu);
	r = channel_at(pa);
	if (r && channel_linux(r) < QV_CHAN_MAX_ENDS)
		result = channel_ring(r);
	lock_drop(LOCK_CHANNELS);
	return result;
}

/*
 * Cells send their NMIs for requests to this CPU from now on: it executes Linux, and the CPUs of a
 * cell that starts leave the front end. A cell's CPU that has read the target before has sent when
 * this returns. Pairs with post_announce() in cell/keys.c.
 */
void posts_retarget(const struct pcpu *cpu)
{
	const struct manager_state *m = &me()->manager;
	u32 id;

	for (id = 1; id < QV_INSTANCES; id++) {
		struct instance *cell = (struct instance *)(QV_VA_SCRUB + QV_OFF_INSTANCE);

		if (!(m->dynamic >> id & 1))
			continue;
		mapping_set(QV_VA_SCRUB, m->cells[id].block_pa);
		__atomic_store_n(&cell->cell.post.target, cpu->apic_id, __ATOMIC_SEQ_CST);
		bells_settle(&cell->bells, id);
	}
}

void posts_end(u32 id)
{
	/* The cell may have sent an NMI that no CPU has taken */
	if (me()->manager.dynamic >> id & 1)
		me()->manager.posts_until = rdtsc() + POSTS_LATE;
	me()->manager.dynamic &= ~(1u << id);
}
