// SPDX-License-Identifier: GPL-2.0-only
/* Start, stop, and destroy of a cell. Its block is open in QV_VA_MANAGE. */
#include "abi/errors.h"
#include "abi/log.h"
#include "core/pci.h"
#include "front/linux_memory.h"
#include "manage.h"
#include "request.h"

static void set_memory(const struct qv_mon_create *q, enum linux_access access)
{
	u32 i;
	u64 k;

	for (i = 0; i < q->num_runs; i++)
		for (k = 0; k < q->runs[i].count; k++)
			linux_memory(q->runs[i].pa + k * QV_HUGE, QV_HUGE, access);
}

static bool memory_still_ours(const struct qv_mon_create *q)
{
	u32 i;

	for (i = 0; i < q->num_runs; i++)
		if (!request_run_ok(me(), &q->runs[i]))
			return false;
	return true;
}

u64 call_start(struct pcpu *cpu, u64 id, u64 unused)
{
	struct cell_slot *slot = &me()->cells[id];
	const struct qv_mon_create *q = slot_request(id);
	u64 error = QV_ME_OK;

	(void)unused;
	if (slot->state != QV_MON_CREATED)
		return QV_ME_STATE;
	if (!memory_still_ours(q))
		return QV_ME_MEMORY;
	if (!pci_still_ours(q))
		return QV_ME_DEVICE_TAKEN;
	set_memory(q, LINUX_NONE);
	slot->taken = true;
	pci_take(q, true);
	if (!flush_front_end(cpu))
		error = QV_ME_CPU_STUCK;
	else if (!pci_still_there(cpu, q))
		error = QV_ME_DEVICE_NONE;
	if (error) {
		set_memory(q, LINUX_ALL);
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

/* If a CPU does not answer, the others stop nevertheless; call_reclaim() tries that CPU again */
u64 call_stop(struct pcpu *cpu, u64 id, u64 unused)
{
	struct cell_slot *slot = &me()->cells[id];
	const struct qv_mon_create *q = slot_request(id);
	u32 state = QV_MON_RUNNING;		/* a failed cell stays failed */
	bool all;

	(void)unused;
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

/* ---- destroy, in small pieces, so that no call holds its CPU for long ---- */

static u64 nth_page(const struct qv_mon_create *q, u64 n)
{
	u32 i;

	for (i = 0; n >= q->runs[i].count; i++)
		n -= q->runs[i].count;
	return q->runs[i].pa + n * QV_HUGE;
}

/* Gives back CPUs that came home. A CPU that did not answer may still reach the cell's memory */
static void release_home(struct cell_slot *slot)
{
	u64 home = slot->cpus & ~me()->away;

	slot->cpus &= ~home;
	cpus_release(home);
}

/*
 * The last piece: devices, block, CPUs. The flush comes first, and nothing else can fail: once the
 * block is given up, it is not read again. The flush covers the memory given back before, too: a
 * CPU that touched it while it was hidden may have cached a translation to the dummy page. A CPU
 * that does not answer is no danger: it has no translation to hidden memory, and drops the others
 * before it executes an instruction of Linux again.
 */
static void give_block(struct pcpu *cpu, struct cell_slot *slot, const struct qv_mon_create *q)
{
	if (slot->taken) {
		slot->taken = false;
		pci_take(q, false);
	}
	/* Behind the open part: drops the dummy pages */
	linux_memory(slot->block_pa + QV_OPEN_LEN, QV_BLOCK_CELL - QV_OPEN_LEN, LINUX_NONE);
	flush_front_end(cpu);
	manage(QV_VA_MANAGE, 0);
	scrub(slot->block_pa);
	linux_memory(slot->block_pa, QV_BLOCK_CELL, LINUX_ALL);
	slot->state = QV_MON_NONE;
	release_home(slot);
}

u64 call_reclaim(struct pcpu *cpu, u64 id, u64 unused)
{
	struct cell_slot *slot = &me()->cells[id];
	const struct qv_mon_create *q = slot_request(id);
	u64 pa;

	(void)unused;
	if (slot->state != QV_MON_CREATED && slot->state != QV_MON_STOPPED)
		return QV_ME_STATE;
	if (!cpus_home(cpu, slot, q)) {
		release_home(slot);
		return QV_ME_CPU_LOST;
	}
	if (slot->state == QV_MON_STOPPED && slot->reclaimed < request_pages(q)) {
		pa = nth_page(q, slot->reclaimed++);
		scrub(pa);
		linux_memory(pa, QV_HUGE, LINUX_ALL);
		return 1;
	}
	give_block(cpu, slot, q);
	log_event(cpu, QV_LOG_RECLAIMED, id, 0);
	return QV_ME_OK;
}
