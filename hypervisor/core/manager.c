// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cells come and go: the front end's hypercalls. Only here is another
 * instance's memory ever mapped, and only while one call lasts.
 */
#include "apic.h"
#include "manage.h"
#include "nested.h"
#include "request.h"
#include "vendor.h"

void manage(u64 va, u64 pa)
{
	me()->directory[(va >> 21) & 511] = pa ? pa | PT_P | PT_W | PT_PS | PT_NX : 0;
	invlpg(va);
}

void scrub(u64 pa)
{
	manage(QV_VA_SCRUB, pa);
	memset((void *)QV_VA_SCRUB, 0, QV_HUGE);
	manage(QV_VA_SCRUB, 0);
}

/* ---- the lock ---- */

/* What a lock keeps Linux from */
#define LOCKABLE	(1u << QV_HC_CREATE | 1u << QV_HC_START | 1u << QV_HC_STOP | 1u << QV_HC_RECLAIM | \
			 1u << QV_HC_LEAVE)

/*
 * Does a cell want no management? Its own instance writes .locked, which Linux can only
 * read. A cell that has failed, by its instance's own finding, can agree to nothing any more.
 */
static bool locked(void)
{
	bool any = false;
	u32 i;

	for (i = 1; i < QV_MON_CELLS && !any; i++) {
		if (me()->cells[i].state != QV_MON_RUNNING)
			continue;
		manage(QV_VA_MANAGE, me()->cells[i].block_pa);
		any = load(&managed_status()->locked) && load(&managed_status()->state) == QV_MON_RUNNING;
	}
	manage(QV_VA_MANAGE, 0);
	return any;
}

/* What was begun before the lock is carried to its end */
static bool begun(u64 nr, u64 id)
{
	return nr == QV_HC_RECLAIM && id < QV_MON_CELLS && me()->cells[id].state && me()->cells[id].reclaimed;
}

/* Only a cell that runs: else it could not unlock */
static u64 lock(u32 id)
{
	if (me()->cells[id].state != QV_MON_RUNNING || load(&managed_status()->state) != QV_MON_RUNNING)
		return QV_ME_STATE;
	if (slot_request(id)->lock == QV_LOCK_NEVER)	/* nor could it unlock */
		return QV_ME_MAY_NOT_LOCK;
	managed_status()->locked = 1;
	return QV_ME_OK;
}

/* ---- start, stop ---- */

static void set_memory(const struct qv_mon_create *q, void (*what)(const struct paging *, u64))
{
	u32 i;
	u64 k;

	for (i = 0; i < q->num_runs; i++)
		for (k = 0; k < q->runs[i].count; k++)
			what(&me()->nested, q->runs[i].pa + k * QV_HUGE);
}

static bool memory_still_ours(const struct qv_mon_create *q)
{
	u32 i;

	for (i = 0; i < q->num_runs; i++)
		if (!request_run_ok(me(), &q->runs[i]))
			return false;
	return true;
}

static u64 start_cell(struct pcpu *cpu, u32 id)
{
	struct cell_slot *slot = &me()->cells[id];
	const struct qv_mon_create *q = slot_request(id);
	u64 error = QV_ME_OK;

	if (slot->state != QV_MON_CREATED)
		return QV_ME_STATE;
	if (!memory_still_ours(q))
		return QV_ME_MEMORY;
	if (!pci_still_ours(q))
		return QV_ME_DEVICE_TAKEN;
	set_memory(q, front_hole);
	slot->taken = true;
	pci_take(q, true);
	if (!flush_front_end(cpu))
		error = QV_ME_CPU_STUCK;
	else if (!pci_still_there(cpu, q))
		error = QV_ME_DEVICE_NONE;
	if (error) {
		set_memory(q, front_unhole);
		slot->taken = false;
		pci_take(q, false);
		flush_front_end(cpu);
		return error;
	}

	/* ---- from here the memory is the cell's ---- */
	slot->state = QV_MON_RUNNING;
	pci_begin(cpu, managed());
	managed_status()->locked = q->lock == QV_LOCK_START;
	log_event(cpu, QV_LOG_STARTED, id, 0);
	return cpus_send(q) ? QV_ME_OK : QV_ME_CPU_STUCK;
}

/* A CPU that does not answer does not keep the others from stopping: reclaim() looks for it again */
static u64 stop_cell(struct pcpu *cpu, u32 id)
{
	struct cell_slot *slot = &me()->cells[id];
	const struct qv_mon_create *q = slot_request(id);
	u32 state = QV_MON_RUNNING;		/* a failure stays what it is */
	bool all;

	if (slot->state != QV_MON_RUNNING)
		return QV_ME_STATE;
	all = cpus_stop(cpu, q);
	slot->state = QV_MON_STOPPED;
	pci_quiet(cpu, q);
	__atomic_compare_exchange_n(&managed_status()->state, &state, QV_MON_STOPPED, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	log_event(cpu, QV_LOG_STOPPED, id, 0);
	return all ? QV_ME_OK : QV_ME_CPU_LOST;
}

/* ---- destroy, in small pieces so that no CPU is away for long ---- */

static u64 nth_page(const struct qv_mon_create *q, u64 n)
{
	u32 i;

	for (i = 0; n >= q->runs[i].count; i++)
		n -= q->runs[i].count;
	return q->runs[i].pa + n * QV_HUGE;
}

/* What is no cell's any more, while a CPU that does not answer may still reach the rest */
static void release_home(struct cell_slot *slot)
{
	u64 home = slot->cpus & ~me()->away;

	slot->cpus &= ~home;
	cpus_release(home);
}

/*
 * The last piece: devices, block, CPUs. The flush comes first and nothing else can fail: once the block
 * is given up, nobody reads it. It covers the memory given back before as well: a CPU of Linux's that
 * touched that while it was hidden may have the page that takes such writes in its translations. A
 * CPU that does not answer is no danger: it has no translation to what was hidden, and drops
 * the others before it executes anything of Linux's again.
 */
static void give_block(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	const struct paging *n = &me()->nested;

	if (slot->taken) {
		slot->taken = false;
		pci_take(q, false);
	}
	front_open(n, slot->block_pa, slot->open_table);	/* forget what answered touches of the rest */
	flush_front_end(cpu);
	manage(QV_VA_MANAGE, 0);
	scrub(slot->block_pa);
	front_unhole(n, slot->block_pa);
	slot->state = QV_MON_NONE;
	release_home(slot);
}

static u64 reclaim(struct pcpu *cpu, u32 id)
{
	struct cell_slot *slot = &me()->cells[id];
	const struct qv_mon_create *q = slot_request(id);
	u64 pa;

	if (slot->state != QV_MON_CREATED && slot->state != QV_MON_STOPPED)
		return QV_ME_STATE;
	if (!cpus_home(cpu, slot, q)) {
		release_home(slot);
		return QV_ME_CPU_LOST;
	}
	if (slot->state == QV_MON_STOPPED && slot->reclaimed < request_pages(q)) {
		pa = nth_page(q, slot->reclaimed++);
		scrub(pa);
		front_unhole(&me()->nested, pa);
		return 1;
	}
	give_block(cpu, slot, q);
	log_event(cpu, QV_LOG_RECLAIMED, id, 0);
	return QV_ME_OK;
}

/*
 * Each bell is an interrupt of the cell's, so Linux may ring only so often. Nothing is remembered here, since
 * nothing here has a timer: who is refused rings again. A Linux that does not only waits longer for its cell.
 */
static bool too_soon(struct cell_slot *slot)
{
	u64 now = rdtsc();

	/* Signed: the last one may have come from a CPU whose TSC is ahead */
	if ((s64)(now - slot->bell_tsc) < (s64)slot->bell_gap)
		return true;
	slot->bell_tsc = now;
	return false;
}

static u64 doorbell(u32 id)
{
	struct cell_slot *slot = &me()->cells[id];
	const struct qv_mon_create *q = slot_request(id);

	if (slot->state != QV_MON_RUNNING || !q->doorbell_vector)
		return QV_ME_STATE;
	if (too_soon(slot))
		return QV_ME_RATE;
	apic_send(1 << 14 | q->doorbell_vector, pcpu_of(q->cpus[0])->apic_id);
	return QV_ME_OK;
}

/* Nobody waits here for the CPU's answer: it counts qv_mon_status.samples */
static u64 sample(u32 id, u64 index)
{
	struct cell_slot *slot = &me()->cells[id];
	const struct qv_mon_create *q = slot_request(id);

	if (!q->debug)
		return QV_ME_NO_DEBUG;
	if (slot->state != QV_MON_RUNNING || load(&managed_status()->state) != QV_MON_RUNNING)
		return QV_ME_STATE;
	if (index >= q->num_cpus)
		return QV_ME_CPUS;
	if (too_soon(slot))
		return QV_ME_RATE;
	kick(pcpu_in(QV_VA_MANAGE, index), CMD_SAMPLE);
	return QV_ME_OK;
}

static u64 on_cell(struct pcpu *cpu, u64 nr, u64 a)
{
	u64 result = QV_ME_CALL, id = nr == QV_HC_SAMPLE ? a & 0xff : a;

	if (!id || id >= QV_MON_CELLS || !me()->cells[id].state)
		return QV_ME_INSTANCE;
	manage(QV_VA_MANAGE, me()->cells[id].block_pa);
	switch (nr) {
	case QV_HC_START:
		result = start_cell(cpu, id);
		break;
	case QV_HC_STOP:
		result = stop_cell(cpu, id);
		break;
	case QV_HC_RECLAIM:
		result = reclaim(cpu, id);
		break;
	case QV_HC_DOORBELL:
		result = doorbell(id);
		break;
	case QV_HC_LOCK:
		result = lock(id);
		break;
	case QV_HC_SAMPLE:
		result = sample(id, a >> 8);
		break;
	}
	manage(QV_VA_MANAGE, 0);
	return result;
}

/* A CPU outside the monitor could touch everything: none leaves while there are cells */
static u64 may_leave(const struct pcpu *cpu)
{
	u32 i;

	for (i = 1; i < QV_MON_CELLS; i++)
		if (me()->cells[i].state)
			return QV_ME_STATE;
	me()->left |= 1ull << cpu->index;	/* and no cell comes after it */
	return QV_ME_OK;
}

static u64 note(struct pcpu *cpu, u64 what)
{
	if (what < QV_NOTE_PANIC || what > QV_NOTE_POWER_OFF)
		return QV_ME_CALL;
	log_event(cpu, QV_LOG_LINUX_ENDS, what, 0);
	return QV_ME_OK;
}

static void reset_held(void)
{
	u32 i;

	for (i = 0; i < me()->boot.num_cpus; i++)
		my_status()->cpus[i].held_max = my_status()->cpus[i].call_max = 0;
}

u64 hypercall(struct pcpu *cpu, u64 nr, u64 a)
{
	u64 result = QV_ME_OK;
	u32 nobody = 0;

	if (nr == QV_HC_NOP)
		return QV_ME_OK;
	if (nr >= QV_HC_COUNT)
		return QV_ME_CALL;
	if (nr == QV_HC_NOTE)			/* Linux may be in its last throes: wait for nobody */
		return note(cpu, a);
	if (!__atomic_compare_exchange_n(&me()->busy, &nobody, cpu->index + 1, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return QV_ME_BUSY;
	if ((LOCKABLE & 1u << nr) && !begun(nr, a) && locked())
		result = QV_ME_LOCKED;
	else if (nr == QV_HC_CREATE)
		result = me()->left ? QV_ME_STATE : create(cpu, a);
	else if (nr == QV_HC_LEAVE)
		result = may_leave(cpu);
	else if (nr == QV_HC_RESET_HELD)
		reset_held();
	else
		result = on_cell(cpu, nr, a);
	__atomic_store_n(&me()->busy, 0, __ATOMIC_RELEASE);
	return result;
}
